/** A launch whose options are keys of a map: `engine_kwargs`, `engine_config`. */
import type { Node } from 'yaml';
import { assemble } from '../assemble';
import { readSettings } from '../config-file';
import type { LaunchEngine } from '../engines';
import type { Form, HardwareHint, Launch, LaunchOption, TextRange } from '../launch';
import type { Reading } from '../reading';
import { started } from '../words/start';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { keyInsertion } from '../yaml/insertion';

export interface Keyed {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly form: Form;
  readonly title: string;
  readonly engine: LaunchEngine;
  /** What tells the launch. */
  readonly head: TextRange;
  readonly range: TextRange;
  /** The map of options; null where it says none. */
  readonly map: Node | null;
  /** Keys that are not options of the engine; all are where absent. */
  readonly flag?: (key: string) => string | undefined;
  /** Keys by option, where an option can only be added under a key of the form's own. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly more?: readonly LaunchOption[];
  readonly model?: Launch['model'];
  readonly hardware?: HardwareHint;
  readonly environment?: readonly Variable[];
  readonly role?: Launch['role'];
}

export function readKeyed(k: Keyed): void {
  const { doc, reading, form, title, engine, range } = k;
  const around = { environment: k.environment ?? [], hardware: k.hardware ?? {} };
  const flag = k.flag ?? ((key: string) => key);
  const options = [...(k.more ?? []), ...readSettings({ doc, engine, lines: reading.lines(), flag }, k.map)];
  const place = keyInsertion(doc, k.map, 'snake');
  const only = k.keys ? new RegExp(`^(?:${Object.values(k.keys).join('|')})$`) : /^[a-z][a-z0-9_]*$/;
  const insertion = place && { ...place, only, ...(k.keys ? { names: k.keys } : {}) };
  const start = started(around, engine, k.head, [], false);
  const said = { ...(k.model ? { model: k.model } : {}), ...(k.role ? { role: k.role } : {}) };
  reading.found(assemble(reading, { form, title, range, start, shell: false, options, insertion, ...said }));
}
