// @ts-check

/**
 * @typedef {object} CreateForm what a person wrote
 * @property {string} name
 * @property {string} image
 * @property {string} command
 * @property {string} driver
 * @property {string} policy
 * @property {string} driverOptions
 */

/**
 * The body of a create request, or the field that cannot be read; everything else is the gateway's to judge.
 *
 * @param {CreateForm} form
 * @returns {{ ok: true, body: object } | { ok: false, field: string, message: string }}
 */
export function createFields({ name, image, command, driver, policy, driverOptions }) {
  const words = command.split("\n").filter((word) => word !== "");
  /** @type {Record<string, unknown>} */
  const body = { name: name.trim(), image: imageOf(image.trim()), command: words };
  if (driver.trim() !== "") body["driver"] = driver.trim();
  for (const [field, text] of Object.entries({ policy, driverOptions })) {
    if (text.trim() === "") continue;
    try {
      body[field] = JSON.parse(text);
    } catch (error) {
      return {
        ok: false,
        field,
        message: `${field} is no JSON: ${error instanceof Error ? error.message : ""}`,
      };
    }
  }
  return { ok: true, body };
}

/**
 * A path on the gateway's machine, or a reference for drivers that pull their images.
 *
 * @param {string} image
 */
function imageOf(image) {
  return image.startsWith("/") ? { path: image } : { name: image };
}
