#!/usr/bin/env node
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { connectEngine, engineMessage, failureIn, jsonLines, statusOf } from "./engine.js";
import { findBusybox, packSandboxImage } from "./guest/sandbox-image.js";

const USAGE = `Builds the image that sandboxes run in, FROM scratch, out of this machine's Node and busybox.

  build-image [--tag slipway-sandbox:latest] [--docker-host unix:///path] [--tar FILE]

--tar writes the root filesystem to a file and leaves the engine alone.`;

const { values } = parseArgs({
  options: {
    tag: { type: "string", default: "slipway-sandbox:latest" },
    "docker-host": { type: "string" },
    tar: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

async function build(): Promise<void> {
  const busybox = await findBusybox();
  if (busybox === null)
    console.error("No static busybox here (package busybox-static): the image gets no shell.");
  const tar = packSandboxImage({ busybox });
  if (values.tar !== undefined) {
    await pipeline(tar, createWriteStream(values.tar));
    console.log(values.tar);
    return;
  }
  const repo = values.tag;
  const docker = connectEngine(values["docker-host"]);
  const changes = ["ENV PATH=/usr/local/bin:/bin", "WORKDIR /workspace"];
  const answer = docker.importImage(tar, { repo, changes });
  for await (const message of jsonLines(await answer)) {
    const failure = failureIn(message);
    if (failure !== null) throw new Error(failure);
  }
  console.log(repo);
}

/** One sentence: a stack tells nothing to whoever has no engine, or has no room in it. */
function sentenceOf(error: unknown): string {
  const said = engineMessage(error);
  const onTheWay = statusOf(error) === null && (error as { syscall?: unknown } | null)?.syscall === "connect";
  // `npm start` runs this before the gateway, which knows DOCKER_HOST alone.
  const named = values["docker-host"] === undefined ? "DOCKER_HOST" : "--docker-host";
  return onTheWay
    ? `No Docker engine answers (${said}): start one, or name it with ${named}.`
    : `The image was not built: ${said}`;
}

try {
  if (values.help) console.log(USAGE);
  else await build();
} catch (error) {
  console.error(sentenceOf(error));
  process.exitCode = 1;
}
