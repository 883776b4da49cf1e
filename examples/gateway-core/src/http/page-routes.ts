import { Hono } from "hono";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { extname } from "node:path";
import { localOnly } from "./local-only.js";

export interface PageOptions {
  readonly now: () => number;
  /** Only programs on this machine get the page: nobody is asked for a token here. */
  readonly localOnly: boolean;
}

const FOLDER = new URL("../page/", import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Nothing runs or loads that is not a file of this gateway, no text becomes markup (the browser itself refuses it), and
 * no other site shows the page inside its own to have its buttons pressed.
 */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // A new gateway has a new page: ask each time, the tag makes that cheap.
  "cache-control": "no-cache",
};

/**
 * The live page, as it lies in its folder. It holds nothing of any sandbox, so it needs no token: what it shows it
 * fetches from the API with the token of who looks at it.
 */
export function pageRoutes({ now, localOnly: onlyLocal }: PageOptions): Hono {
  const app = new Hono();
  const files = new Map(readdirSync(FOLDER).flatMap((name) => servedFile(name) ?? []));
  for (const path of onlyLocal ? ["/", "/page/*"] : []) app.use(path, localOnly);
  // The page counts down by this clock: the browser's may be another.
  app.get("/page/now", (context) => context.json({ now: now() }, 200, { "cache-control": "no-store" }));
  app.get("/", (context) => answer("index.html", context.req.header("if-none-match")));
  app.get("/page/:name", (context, next) => {
    const name = context.req.param("name");
    return files.has(name) ? Promise.resolve(answer(name, context.req.header("if-none-match"))) : next();
  });
  return app;

  function answer(name: string, known: string | undefined): Response {
    const { body, type, tag } = files.get(name) as ServedFile;
    const headers = { ...HEADERS, "content-type": type, etag: tag };
    return known === tag ? new Response(null, { status: 304, headers }) : new Response(body, { headers });
  }
}

interface ServedFile {
  readonly body: string;
  readonly type: string;
  readonly tag: string;
}

function servedFile(name: string): [[string, ServedFile]] | null {
  const type = TYPES[extname(name)];
  if (type === undefined) return null;
  const body = readFileSync(new URL(name, FOLDER), "utf8");
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return [[name, { body, type, tag }]];
}
