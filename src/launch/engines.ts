/** What reading a file needs to know of an engine: its option table and the words that start it. */

import type { OptionSpec } from '../core/engines/option';
import type { StartWords } from '../core/engines/start-words';

export interface LaunchEngine {
  readonly id: string;
  readonly options: readonly OptionSpec[];
  readonly start: StartWords;
}
