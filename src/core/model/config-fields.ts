/** Validated reading of config.json fields. Every complaint names the field it is about. */
import { ModelError } from './model';

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Largest value that is still believed, by kind of number. */
const LIMITS = {
  layers: 10_000,
  heads: 4096,
  dim: 65_536,
  width: 1_048_576,
  vocabulary: 100_000_000,
  experts: 65_536,
  tokens: 2 ** 40,
} as const;

export type Limit = keyof typeof LIMITS;

/** The first of these fields that is set; null is not set. */
export function firstSet(config: Json, names: readonly string[]): { name: string; value: unknown } | undefined {
  for (const name of names) {
    const value = at(config, name);
    if (value !== undefined && value !== null) {
      return { name, value };
    }
  }
  return undefined;
}

/** A field by name, or by path (`attn_config.kv_n_heads`). */
export function at(config: Json, path: string): unknown {
  if (!path.includes('.')) {
    return config[path];
  }
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), config);
}

/** A whole number from `least` to the limit, from the first of the fields that is set. */
export function whole(config: Json, names: readonly string[], limit: Limit, least = 1): number | undefined {
  const found = firstSet(config, names);
  return found && checkedWhole(found.value, found.name, limit, least);
}

export function checkedWhole(value: unknown, name: string, limit: Limit, least = 1): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new ModelError(`${name} must be a whole number, not ${shown(value)}`, name);
  }
  if (value < least) {
    throw new ModelError(`${name} must be at least ${least}, not ${value}`, name);
  }
  if (value > LIMITS[limit]) {
    throw new ModelError(`${name} is ${value}: more than ${LIMITS[limit]} is not believed`, name);
  }
  return value;
}

/** The same, which must be there. */
export function required(config: Json, names: readonly string[], limit: Limit): number {
  const value = whole(config, names, limit);
  if (value === undefined) {
    const [name = ''] = names;
    throw new ModelError(
      `${name} is missing${names.length > 1 ? ` (nor is there ${names.slice(1).join(', ')})` : ''}`,
      name,
    );
  }
  return value;
}

export function text(config: Json, name: string): string | undefined {
  const value = at(config, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export const flag = (config: Json, name: string): boolean => at(config, name) === true;

/** A list of whole numbers from 0, as layer numbers are. */
export function wholeList(config: Json, name: string, limit: Limit, least = 0): number[] | undefined {
  const value = at(config, name);
  if (value === undefined || value === null) {
    return undefined;
  }
  if (!Array.isArray(value)) {
    throw new ModelError(`${name} must be a list, not ${shown(value)}`, name);
  }
  return value.map((item) => checkedWhole(item, name, limit, least));
}

export function shown(value: unknown): string {
  const json = typeof value === 'number' || value === undefined ? String(value) : JSON.stringify(value);
  return json.length > 40 ? `${json.slice(0, 40)}…` : json;
}
