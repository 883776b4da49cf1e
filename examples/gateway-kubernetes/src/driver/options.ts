import { InvalidInputError, type ImageSpec, type JsonObject } from "@slipway-examples/gateway-core";
import { z } from "zod";

const quantity = z
  .string()
  .regex(/^\d+(\.\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$/, "a quantity such as 500m or 2Gi");
const labelText = z.string().min(1).max(316);

/** What a create request may say to this driver. */
const schema = z.strictObject({
  /** Size of the workspace volume. */
  storage: quantity.default("1Gi"),
  storageClassName: labelText.optional(),
  cpu: quantity.optional(),
  memory: quantity.optional(),
  imagePullPolicy: z.enum(["Always", "IfNotPresent", "Never"]).optional(),
  runtimeClassName: labelText.optional(),
  nodeSelector: z.record(labelText, z.string().max(63)).optional(),
  runAsUser: z.int().nonnegative().optional(),
  /** The Node.js program inside the image that runs the supervisor. */
  node: z.string().min(1).max(4096).default("node"),
});

type Parsed = z.infer<typeof schema>;

export interface KubernetesOptions extends Omit<Parsed, "cpu" | "memory"> {
  readonly resources: Readonly<Record<string, string>>;
}

/** @throws InvalidInputError naming the field. */
export function parseKubernetesOptions(options: JsonObject): KubernetesOptions {
  const result = schema.safeParse(options);
  if (!result.success) {
    const issue = result.error.issues[0];
    const key = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    const path = ["driverOptions", ...(issue?.path ?? []), ...(key === undefined ? [] : [key])];
    const value = path.slice(1).reduce<unknown>((found, part) => Reflect.get(Object(found), part), options);
    const expected = key === undefined ? (issue?.message ?? "valid") : "absent (no such field)";
    throw new InvalidInputError(path.map(String).join("."), expected, value);
  }
  const { cpu, memory, ...rest } = result.data;
  return {
    ...rest,
    resources: { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) },
  };
}

/** An image is a reference for the cluster to pull; its parts cannot be chosen. */
export function checkImage(image: ImageSpec): void {
  if (!/^[a-z0-9][A-Za-z0-9._\-/:@]{0,199}$/.test(image.name)) {
    throw new InvalidInputError(
      "image.name",
      "an image reference such as registry.example/name:tag",
      image.name,
    );
  }
  if (image.path !== undefined) {
    throw new InvalidInputError("image.path", "absent (the cluster pulls the image by its name)", image.path);
  }
  if (image.include !== undefined) {
    throw new InvalidInputError("image.include", "absent (a container image comes whole)", image.include);
  }
}
