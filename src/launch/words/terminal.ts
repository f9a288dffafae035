/** Words of a command in PowerShell and batch scripts → a launch: their ways of writing stand around each part. */
import { assemble } from '../assemble';
import type { Form, Insertion, Layer, LayerKind } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import type { Mapped } from '../text/mapped';
import { findStart } from '../words/find-start';
import { surrounded } from '../words/start';
import type { Variable } from '../words/variable';

export interface TerminalCommand {
  readonly words: readonly Mapped[];
  readonly environment: readonly Variable[];
  readonly form: Form;
  readonly title: string;
  /** How a bare word is written there. */
  readonly bare: LayerKind;
  /** The last words stand elsewhere (an array): nothing can be written behind them. */
  readonly closed?: boolean;
}

export function readCommand(reading: Reading, command: TerminalCommand): void {
  const { words, form, title } = command;
  const found = findStart(words, reading.engines);
  const [first] = words;
  if (!found || !first) {
    return;
  }
  const environment = found.contained ? found.environment : [...command.environment, ...found.environment];
  const start = surrounded(found, environment, found.hardware);
  if (start.kind === 'script') {
    readScript(reading, start, { form, title });
    return;
  }
  const ends = words.map((w) => w.extent.end).filter((e) => e >= start.head.start);
  const range = { start: start.head.start, end: Math.max(start.head.end, ...ends.slice(-1000)) };
  const insertion = insertionOf(command);
  reading.found(assemble(reading, { form, title, range, start, shell: false, insertion }));
}

/** After the last word, where it stands there itself. */
function insertionOf({ words, bare, closed }: TerminalCommand): Insertion | undefined {
  const last = words.at(-1);
  const before = words.at(-2);
  if (closed || !last || (before && before.extent.end > last.extent.start)) {
    return undefined;
  }
  const at = last.extent.end;
  const outer = last.segments.at(-1)?.outer ?? [];
  const around: readonly Layer[] = [...last.layers, ...outer].filter((l) => l.range.end > at);
  const kind = outer.at(-1)?.kind.startsWith('batch') ? 'batch-bare' : bare;
  const layers: readonly Layer[] = [...around, { kind, range: { start: at, end: at } }];
  return { at, text: ' --{name} {value}', layers };
}
