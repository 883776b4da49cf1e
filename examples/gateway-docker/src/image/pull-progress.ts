/** What one of an engine's messages about a pull changes. */
export interface PullStep {
  readonly step: "download" | "image";
  readonly position: number;
  readonly total: number | null;
  readonly done: boolean;
}

interface Layer {
  downloaded: number;
  unpacked: number;
  /** Compressed size, `null` until the engine tells. */
  total: number | null;
  present: boolean;
  stage: "waiting" | "downloading" | "downloaded" | "unpacked";
}

/**
 * Adds up what an engine says of the layers of a pull. Layers are fetched and unpacked side by side; for people it is
 * two steps, fetching and then unpacking, and what was unpacked meanwhile counts from the start of the second.
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
    if (!layers.every((layer) => layer.stage === "downloaded" || layer.stage === "unpacked")) {
      return this.#sum("download", layers, (layer) => layer.downloaded, false);
    }
    if (this.#downloadDone) return this.#sum("image", layers, (layer) => layer.unpacked, false);
    this.#downloadDone = true;
    return this.#sum("download", layers, (layer) => layer.downloaded, true);
  }

  /** Bytes of all layers that had to be fetched. */
  get fetched(): number {
    return [...this.#layers.values()].reduce(
      (sum, layer) => sum + (layer.present ? 0 : (layer.total ?? 0)),
      0,
    );
  }

  #apply(id: string, status: string, message: Readonly<Record<string, unknown>>): boolean {
    const known = this.#layers.get(id);
    const layer = known ?? { downloaded: 0, unpacked: 0, total: null, present: false, stage: "waiting" };
    const { current, total } = detailOf(message);
    switch (status) {
      case "Pulling fs layer":
      case "Waiting":
        break;
      case "Downloading":
        layer.stage = "downloading";
        layer.downloaded = Math.max(layer.downloaded, current);
        layer.total ??= total;
        break;
      case "Verifying Checksum":
      case "Download complete":
        // A small layer is complete before its size was ever told.
        layer.total ??= layer.downloaded;
        layer.downloaded = layer.total;
        if (layer.stage !== "unpacked") layer.stage = "downloaded";
        break;
      case "Extracting":
        layer.total ??= total;
        layer.downloaded = layer.total ?? layer.downloaded;
        layer.unpacked = Math.max(layer.unpacked, current);
        layer.stage = "downloaded";
        break;
      case "Pull complete":
        layer.unpacked = layer.total ?? layer.unpacked;
        layer.stage = "unpacked";
        break;
      case "Already exists":
        // Adds nothing to either side, so that no percentage jumps.
        layer.present = true;
        layer.total = 0;
        layer.stage = "unpacked";
        break;
      default:
        // "Pulling from library/x" carries the tag as its id, and engines may say more.
        return false;
    }
    this.#layers.set(id, layer);
    return true;
  }

  #sum(
    step: PullStep["step"],
    layers: readonly Layer[],
    of: (layer: Layer) => number,
    done: boolean,
  ): PullStep {
    const position = layers.reduce((sum, layer) => sum + of(layer), 0);
    const known = layers.every((layer) => layer.total !== null);
    const total = known ? layers.reduce((sum, layer) => sum + (layer.total ?? 0), 0) : null;
    return { step, position, total, done };
  }
}

function detailOf(message: Readonly<Record<string, unknown>>): { current: number; total: number | null } {
  const detail = message["progressDetail"] as { current?: unknown; total?: unknown } | undefined;
  const size = (value: unknown): number | null =>
    Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;
  return { current: size(detail?.current) ?? 0, total: size(detail?.total) };
}
