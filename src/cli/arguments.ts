/** Values of options, and what is said of one that is none. */
import { InvalidArgumentError } from 'commander';
import { parseBytes } from '../core/units';

/** No count here is larger: tokens of a request, GPUs, requests. */
const MOST = 10_000_000;

export const wholeNumber =
  (least: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > MOST) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${MOST}.`);
    }
    return value;
  };

export function rate(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > MOST) {
    throw new InvalidArgumentError(`It must be a number above 0, at most ${MOST}.`);
  }
  return value;
}

export function word(text: string): string {
  if (text.trim() === '') {
    throw new InvalidArgumentError('It must not be empty.');
  }
  return text;
}

export function size(text: string): string {
  if (!parseBytes(text)) {
    throw new InvalidArgumentError('It must be a size as 58.11GiB or 80GB, or a number of bytes.');
  }
  return text;
}
