/** What one of an engine's messages about a pull changes. */
export interface PullStep {
  readonly step: "download" | "image";
  /** Bytes; `null` while only time was told. */
  readonly position: number | null;
  readonly total: number | null;
  /** For how long layers were unpacked, as engines tell that count no bytes there; all layers together. */
  readonly seconds: number;
  readonly done: boolean;
}

interface Layer {
  downloaded: number;
  unpacked: number;
  seconds: number;
  /** Compressed size, `null` until the engine tells. */
  total: number | null;
  present: boolean;
  stage: "waiting" | "downloading" | "downloaded" | "unpacking" | "unpacked";
}

/**
 * Adds up what an engine says of the layers of a pull. Layers are fetched and unpacked side by side; for people it is
 * two steps, fetching and then unpacking, and what was unpacked meanwhile counts from the start of the second. An engine
 * over containerd tells only for how long it has unpacked a layer: that is time and no bytes, until the layer is there.
 */
export class PullProgress {
  readonly #layers = new Map<string, Layer>();
  #downloadDone = false;

  /** Takes one message; the step that moved, or `null`. */
  take(message: Readonly<Record<string, unknown>>): PullStep | null {
    const { id, status } = message;
    if (typeof id !== "string" || typeof status !== "string" || !this.#apply(id, status, message))
      return null;
    const layers = [...this.#layers.values()];
    if (!isFetched(layers)) return this.#sum("download", layers, (layer) => layer.downloaded, false);
    if (this.#downloadDone) return this.#sum("image", layers, (layer) => layer.unpacked, false);
    this.#downloadDone = true;
    return this.#sum("download", layers, (layer) => layer.downloaded, true);
  }

  /** Bytes of all layers that had to be fetched; `null` when nobody said how large they are. */
  get fetched(): number | null {
    const layers = [...this.#layers.values()];
    const missing = layers.filter(({ present }) => !present);
    const bytes = missing.reduce((sum, { total }) => sum + (total ?? 0), 0);
    const nothingMissing = layers.length > 0 && missing.length === 0;
    return bytes > 0 || nothingMissing ? bytes : null;
  }

  #apply(id: string, status: string, message: Readonly<Record<string, unknown>>): boolean {
    const known = this.#layers.get(id);
    const layer = known ?? { ...UNHEARD };
    const { current, total, seconds } = detailOf(message);
    switch (status) {
      case "Pulling fs layer":
      case "Waiting":
        break;
      case "Downloading":
      // The same of an engine whose containerd does the whole pull.
      case "Pulling layer fs":
        if (layer.stage === "waiting") layer.stage = "downloading";
        layer.downloaded = Math.max(layer.downloaded, current);
        atLeast(layer, total);
        break;
      case "Verifying Checksum":
      case "Download complete":
        // A small layer is complete before its size was ever told.
        atLeast(layer, layer.downloaded);
        complete(layer);
        break;
      case "Extracting":
        // Ten times a second; it says something new once a second.
        if (seconds > 0 && seconds <= layer.seconds) return false;
        layer.seconds = Math.max(layer.seconds, seconds);
        layer.unpacked = Math.max(layer.unpacked, current);
        atLeast(layer, total);
        complete(layer);
        if (layer.stage === "downloaded") layer.stage = "unpacking";
        break;
      case "Pull complete":
        atLeast(layer, layer.downloaded);
        layer.unpacked = layer.total ?? 0;
        complete(layer);
        layer.stage = "unpacked";
        break;
      case "Already exists":
        // Adds nothing to either side, so that no percentage jumps.
        layer.present = true;
        atLeast(layer, 0);
        layer.stage = "unpacked";
        break;
      default:
        // "Pulling from library/x" carries the tag as its id, and engines may say more.
        return false;
    }
    if (layer.total !== null) atLeast(layer, Math.max(layer.downloaded, layer.unpacked));
    this.#layers.set(id, layer);
    return true;
  }

  #sum(
    step: PullStep["step"],
    layers: readonly Layer[],
    of: (layer: Layer) => number,
    done: boolean,
  ): PullStep {
    const bytes = layers.reduce((sum, layer) => sum + of(layer), 0);
    const seconds = layers.reduce((sum, layer) => sum + layer.seconds, 0);
    const known = layers.every((layer) => layer.total !== null);
    const total = known ? layers.reduce((sum, layer) => sum + (layer.total ?? 0), 0) : null;
    // A layer in the middle of its unpacking is not at its beginning, which is what no bytes and 0 % would say.
    const position = step === "image" && bytes === 0 && seconds > 0 ? null : bytes;
    return { step, position, total, seconds, done };
  }
}

const UNHEARD: Readonly<Layer> = {
  downloaded: 0,
  unpacked: 0,
  seconds: 0,
  total: null,
  present: false,
  stage: "waiting",
};

/**
 * Whether there is nothing left to fetch. Layers are announced one by one, those that are there already first: that all of
 * the announced ones are there says so only once one that had to be fetched is being unpacked.
 */
function isFetched(layers: readonly Layer[]): boolean {
  const unpacks = layers.some(
    ({ present, stage }) => !present && (stage === "unpacking" || stage === "unpacked"),
  );
  return unpacks && layers.every(({ stage }) => stage !== "waiting" && stage !== "downloading");
}

/** A size that was told later is the better one, when it is larger. */
function atLeast(layer: Layer, bytes: number | null): void {
  if (bytes !== null) layer.total = Math.max(layer.total ?? 0, bytes);
}

function complete(layer: Layer): void {
  if (layer.total !== null) layer.downloaded = Math.max(layer.downloaded, layer.total);
  if (layer.stage === "waiting" || layer.stage === "downloading") layer.stage = "downloaded";
}

interface Detail {
  readonly current: number;
  readonly total: number | null;
  readonly seconds: number;
}

/** Bytes where no unit is named; what counts something else is never taken for bytes. */
function detailOf(message: Readonly<Record<string, unknown>>): Detail {
  const detail = message["progressDetail"] as Readonly<Record<string, unknown>> | null | undefined;
  const count = (value: unknown): number | null =>
    Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;
  const current = count(detail?.["current"]) ?? 0;
  const units = detail?.["units"] ?? "";
  if (units === "") return { current, total: count(detail?.["total"]), seconds: 0 };
  return { current: 0, total: null, seconds: units === "s" ? current : 0 };
}
