/** `kv-planner`, the command line: `dist/cli.js`. */
import { writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { MAX_BYTES } from './files';
import type { Io } from './io';
import { main } from './program';

const { stdout, stderr, stdin, env } = process;

/** A reader that has seen enough (`| head`) is no error. */
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      writeSync(2, `kv-planner: the result could not be written: ${error.message}\n`);
      process.exit(1);
    }
    process.exit();
  });
}

const io: Io = {
  out: (text) => stdout.write(text),
  note: (line) => stderr.write(`${line}\n`),
  ...(stderr.isTTY === true ? { progress: (line: string) => stderr.write(`\r\u001b[K${line}`) } : {}),
  stdin: async () => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of stdin) {
      chunks.push(chunk as Uint8Array);
      length += (chunk as Uint8Array).length;
      // Longer than any launch file: enough to say so.
      if (length > MAX_BYTES) {
        break;
      }
    }
    return Buffer.concat(chunks);
  },
  grammarFile: (file) => {
    // The optimising compiler takes four times as long on a grammar as the whole rest; one parse does not need it.
    setFlagsFromString('--liftoff-only');
    return readFile(join(__dirname, file));
  },
  env,
  colour: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
  width: Math.min(stdout.columns ?? 100, 120),
};

main(process.argv.slice(2), io).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    io.note(`kv-planner: internal error: ${error.stack ?? error.message}`);
    process.exitCode = 1;
  },
);
