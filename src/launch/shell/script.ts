/** A text that a shell runs → launches. */
import type { Form, TextRange } from '../launch';
import type { Reading } from '../reading';
import type { Script } from '../words/start';

export interface ScriptPlace {
  readonly form: Form;
  readonly title: string;
  readonly range: TextRange;
}

/** Reads the script inside a command (`bash -c "…"`); asks for the grammar when it is not loaded. */
export function readScript(reading: Reading, _found: Script, _place: ScriptPlace): void {
  reading.grammar('bash');
}
