/** A setting as the origin of a number: its line in the file, or that it is a default and why. */
import type { Origin } from '../figure';
import type { Setting } from './engine';

/** `engine` with its version: `vLLM 0.28`. */
export function settingOrigin({ name, raw, line, origin, how }: Setting, engine: string): Origin {
  if (origin === 'default') {
    return { kind: 'default', text: `${name} ${raw}: default of ${engine}${how ? `, ${how}` : ''}` };
  }
  return { kind: origin, text: `${name} ${raw.trim()}${line === undefined ? '' : `, line ${line}`}`, line };
}

/** Those of the settings of these names that count, in the order of the names. */
export const settingOriginsOf = (
  settings: readonly Setting[],
  names: readonly string[],
  engine: string,
): readonly Origin[] =>
  names.flatMap((name) => {
    const setting = settings.findLast((s) => s.name === name && s.value !== undefined && s.value !== null);
    return setting ? [settingOrigin(setting, engine)] : [];
  });
