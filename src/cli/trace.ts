/** Reading a trace of requests, in pieces: traces are larger than launch files. */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Trace, TraceOptions } from '../core/pool';
import { reason } from './files';

export interface ReadTrace {
  readonly trace?: Trace;
  /** The file, or its end, could not be read. */
  readonly error?: string;
}

/** What could be read stands: a compressed file that breaks off gives the rows before. */
export async function readTrace(path: string, options: TraceOptions): Promise<ReadTrace> {
  const { createTraceReader } = await import('../core/pool');
  const reader = createTraceReader(options);
  const decoder = new TextDecoder();
  let error: string | undefined;
  const take = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const piece of pieces) {
      reader.push(decoder.decode(piece, { stream: true }));
    }
  };
  try {
    if (statSync(path).isDirectory()) {
      return { error: 'is a folder, not a trace' };
    }
    await (isGzip(path)
      ? pipeline(createReadStream(path), createGunzip(), take)
      : pipeline(createReadStream(path), take));
  } catch (thrown) {
    error = reason(thrown);
  }
  reader.push(decoder.decode());
  const trace = reader.end();
  if (trace.traffic.count === 0) {
    return { error: error ?? trace.problems[0]?.message ?? 'no request found in it' };
  }
  return { trace, error };
}

/** By its first bytes: names of traces say little. A pipe can be read but once, and is taken as text. */
function isGzip(path: string): boolean {
  if (!statSync(path).isFile()) {
    return false;
  }
  const file = openSync(path, 'r');
  try {
    const head = new Uint8Array(2);
    return readSync(file, head, 0, 2, 0) === 2 && head[0] === 0x1f && head[1] === 0x8b;
  } finally {
    closeSync(file);
  }
}
