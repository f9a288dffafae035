/** Typed access to a launch's settings: the last one written counts, an unresolved one is an answer of its own. */
import type { Finding, Setting } from './engine';

export interface Settings {
  readonly all: readonly Setting[];
  has(name: string): boolean;
  /** The last setting of that name that has a value. */
  find(name: string): Setting | undefined;
  number(name: string): number | undefined;
  text(name: string): string | undefined;
  flag(name: string): boolean | undefined;
  object(name: string): Readonly<Record<string, unknown>> | undefined;
  /** Names whose value cannot be known or is not accepted. */
  readonly unknown: ReadonlySet<string>;
}

export function settingsOf(all: readonly Setting[]): Settings {
  // `None` is how a file says that an option is not set.
  const last = new Map(all.filter((s) => s.value !== null).map((s) => [s.name, s]));
  const value = (name: string) => last.get(name)?.value;
  const typed =
    <T>(is: (v: unknown) => v is T) =>
    (name: string) => {
      const found = value(name);
      return is(found) ? found : undefined;
    };
  return {
    all,
    has: (name) => last.has(name),
    find: (name) => last.get(name),
    number: typed((v) => typeof v === 'number'),
    text: typed((v) => typeof v === 'string'),
    flag: typed((v) => typeof v === 'boolean'),
    object: (name) => {
      const whole = value(name);
      const dotted = all.filter((s) => s.name.startsWith(`${name}.`) && s.value !== undefined);
      if (!isObject(whole) && dotted.length === 0) {
        return undefined;
      }
      return dotted.reduce<JsonObject>(
        (object, s) => withKey(object, s.name.slice(name.length + 1).split('.'), s.value),
        isObject(whole) ? whole : {},
      );
    },
    unknown: new Set([...last.values()].filter((s) => s.value === undefined).map((s) => s.name)),
  };
}

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (v: unknown): v is JsonObject => typeof v === 'object' && v !== null && !Array.isArray(v);

/** `--speculative-config.method mtp` sets one key of the option's object. */
function withKey(object: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [key = '', ...rest] = path;
  const inner = object[key];
  return { ...object, [key]: rest.length === 0 ? value : withKey(isObject(inner) ? inner : {}, rest, value) };
}

/**
 * A finding for every value the engine will not take or that cannot be known. `decisive`: options without whose value
 * nothing about the cache can be said.
 */
export function valueFindings(settings: Settings, title: string, decisive: ReadonlySet<string>): readonly Finding[] {
  return settings.all.flatMap((s): readonly Finding[] => {
    if (s.error !== undefined) {
      const message = `${title} will not take this: ${s.error}`;
      return [{ code: 'bad-value', severity: 'error', message, option: s.name, fixes: [] }];
    }
    if (s.unresolved === undefined) {
      return [];
    }
    const decides = decisive.has(s.name);
    const message = `${s.name} is unknown: ${s.unresolved}. ${decides ? 'Nothing about the cache can be said without it.' : 'What depends on it is left out.'}`;
    return [{ code: 'unresolved', severity: decides ? 'warning' : 'information', message, option: s.name, fixes: [] }];
  });
}

/** Whether a decisive value cannot be known or is not accepted. */
export const anyUnknown = (settings: Settings, decisive: ReadonlySet<string>): boolean =>
  [...settings.unknown].some((name) => decisive.has(name));
