/** Typed access to the keys of one GGUF file. A key of the wrong type is a `ModelError` that names it. */
import type { GgufHeader, GgufValue } from './gguf';
import { ModelError } from './model';

export interface GgufFields {
  readonly architecture: string;
  /** Layers of the file, those of MTP heads included. */
  readonly blocks: number;
  whole(key: string): number | undefined;
  required(key: string): number;
  text(key: string): string | undefined;
  /** One number for each layer, where a file may state one for all. */
  perLayer(key: string): readonly number[] | undefined;
  /** One flag for each layer; undefined unless it is a list. */
  flags(key: string): readonly boolean[] | undefined;
  has(key: string): boolean;
}

/** More layers than any model has: bounds the work on a malformed file. */
const MOST_LAYERS = 10_000;

export function fieldsOf({ metadata }: GgufHeader): GgufFields {
  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string') {
    throw new ModelError('general.architecture is missing', 'general.architecture');
  }
  const get = (key: string): GgufValue | undefined => metadata.get(key) ?? metadata.get(`${architecture}.${key}`);
  const wrong = (key: string, what: string): ModelError =>
    new ModelError(`${architecture}.${key} must be ${what}`, `${architecture}.${key}`);
  const whole = (key: string): number | undefined => {
    const value = get(key);
    if (value !== undefined && !isWhole(value)) {
      throw wrong(key, 'a whole number');
    }
    return value;
  };
  const required = (key: string): number => {
    const value = whole(key);
    if (value === undefined) {
      throw new ModelError(`${architecture}.${key} is missing`, `${architecture}.${key}`);
    }
    return value;
  };
  const blocks = required('block_count');
  if (blocks < 1 || blocks > MOST_LAYERS) {
    throw wrong('block_count', `between 1 and ${MOST_LAYERS}`);
  }
  return {
    architecture,
    blocks,
    whole,
    required,
    text: (key) => {
      const value = get(key);
      return typeof value === 'string' ? value : undefined;
    },
    perLayer: (key) => {
      const value = get(key);
      if (value === undefined || isWhole(value)) {
        return value === undefined ? undefined : new Array(blocks).fill(value);
      }
      if (!isList(value) || !value.every(isWhole)) {
        throw wrong(key, 'whole numbers');
      }
      return value;
    },
    flags: (key) => {
      const value = get(key);
      return isList(value) ? value.map((v) => v === true || v === 1) : undefined;
    },
    has: (key) => get(key) !== undefined,
  };
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isList = (value: GgufValue | undefined): value is readonly (string | number | boolean)[] => Array.isArray(value);
