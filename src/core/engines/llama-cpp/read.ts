/** How llama.cpp reads values. Source: llama.cpp v0.5.0, common/arg.cpp. */
import type { OptionReading } from '../option';
import { readInt, safeInteger } from '../option-read';

/** Of an environment variable that stands for a flag. */
export function readTruth(text: string): OptionReading {
  const word = text.trim().toLowerCase();
  if (['on', 'enabled', 'true', '1', ''].includes(word)) {
    return { value: true };
  }
  return ['off', 'disabled', 'false', '0'].includes(word)
    ? { value: false }
    : { error: `must be on or off, not "${text}"` };
}

/** `on`, `off` and `auto` in all their spellings. */
export function readTernary(text: string): OptionReading {
  const word = text.trim().toLowerCase();
  if (['auto', '-1'].includes(word)) {
    return { value: 'auto' };
  }
  const truth = readTruth(text);
  return 'value' in truth ? { value: truth.value ? 'on' : 'off' } : { error: `must be on, off or auto, not "${text}"` };
}

/** `std::stoi`: digits first, whatever follows. */
export function readStoi(text: string): OptionReading {
  const digits = /^\s*([+-]?\d+)/.exec(text)?.[1];
  return digits === undefined ? { error: `must be a whole number, not "${text}"` } : safeInteger(Number(digits));
}

/** Layers on the GPU: a number, `auto` or `all`; below zero `-1` is auto and all others are all. */
export function readLayers(text: string): OptionReading {
  const word = text.trim().toLowerCase();
  if (word === 'auto' || word === 'all') {
    return { value: word };
  }
  const read = readInt(text);
  if (!read || !('value' in read)) {
    return { error: `must be a whole number, auto or all, not "${text}"` };
  }
  return { value: read.value === -1 ? 'auto' : Number(read.value) < 0 ? 'all' : read.value };
}

/** Numbers with commas or slashes between: shares of layers, MiB of each GPU. */
export function readShares(text: string): OptionReading {
  const parts = text.split(/[,/]+/).map((p) => Number(p.trim()));
  return parts.length > 0 && parts.every((n) => Number.isFinite(n) && n >= 0)
    ? { value: parts }
    : { error: `must be numbers with commas between, such as 3,1, not "${text}"` };
}
