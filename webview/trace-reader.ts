/** The worker's side of a trace: read once from its file, then asked for traffic as often as something else is tried. */
import { createTraceReader, type TraceReader } from '../src/core/pool';

/** A trace as it is handed to a worker. The text lies with the browser: handing it over copies nothing. */
export interface TraceFile {
  /** Another file, another number. */
  readonly id: number;
  readonly name: string;
  readonly text: Blob;
}

export interface TraceStore {
  /**
   * `onShare` is told how much has been read; undefined where `isWanted` says no meanwhile. What is read is kept until
   * another file is asked for.
   */
  read(file: TraceFile, onShare: (share: number) => void, isWanted: () => boolean): Promise<TraceReader | undefined>;
}

/** `most`: requests that are used of a file. */
export function createTraceStore(most?: number): TraceStore {
  let known: { readonly id: number; readonly reader: TraceReader } | undefined;
  return {
    async read({ id, name, text }, onShare, isWanted) {
      if (known?.id === id) {
        return known.reader;
      }
      known = undefined;
      const reader = createTraceReader({ name, ...(most !== undefined && { mostRequests: most }) });
      const decoder = new TextDecoder();
      const bytes = text.stream().getReader();
      let read = 0;
      for (let next = await bytes.read(); !next.done; next = await bytes.read()) {
        reader.push(decoder.decode(next.value, { stream: true }));
        read += next.value.length;
        onShare(read / text.size);
        if (!isWanted()) {
          await bytes.cancel();
          return undefined;
        }
      }
      reader.push(decoder.decode());
      known = { id, reader };
      return reader;
    },
  };
}
