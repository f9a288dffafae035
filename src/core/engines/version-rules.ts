/** Rules that change from version to version, and the version a launch is planned with. */
import type { Origin } from '../figure';
import type { EngineVersion } from './engine';
import { compareVersions } from './option';

/** `what` says what changed, for readers of the table. */
export type Change<R> = readonly [since: string, change: Partial<R>, what: string];

export const rulesAt = <R extends object>(first: R, changes: readonly Change<R>[], version: string): R =>
  Object.assign(
    {},
    first,
    ...changes.filter(([since]) => compareVersions(version, since) >= 0).map(([, change]) => change),
  );

/** `known`: versions oldest first. What names no version is planned as the newest. */
export function versionOf(
  asked: { readonly text: string; readonly origin: Origin } | undefined,
  title: string,
  known: readonly string[],
): EngineVersion {
  const oldest = known[0] as string;
  const newest = known.at(-1) as string;
  const latest: EngineVersion = {
    text: newest,
    origin: { kind: 'default', text: `newest known version, ${newest}` },
  };
  if (!asked) {
    return latest;
  }
  const text = asked.text.replace(/^v/i, '');
  if (!/^b?\d+(\.\d+)*/.test(text)) {
    return { ...latest, note: `“${asked.text}” names no version: planned with the rules of ${newest}.` };
  }
  return { text, origin: asked.origin, note: noteOf(text, title, oldest, newest) };
}

function noteOf(text: string, title: string, oldest: string, newest: string): string | undefined {
  if (compareVersions(text, `${newest}.99`) > 0) {
    return `${title} ${text} is newer than the newest version known here: planned with the rules of ${newest}.`;
  }
  return compareVersions(text, oldest) < 0
    ? `${title} ${text} is older than the oldest version known here: planned with the rules of ${oldest}.`
    : undefined;
}
