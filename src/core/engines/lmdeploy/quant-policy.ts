/** `--quant-policy`: numbers, and words since 0.14. Source: LMDeploy 0.16, messages.py :: QuantPolicy. */
import type { OptionReading } from '../option';
import { readInt } from '../option-read';

const WORDS: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['int4', 4],
  ['int8', 8],
  ['fp8', 16],
  ['fp8_e4m3', 16],
  ['fp8_e5m2', 17],
  ['turbo_quant', 42],
]);

/** What the numbers stand for. TurboMind takes the first three. */
export const QUANT_POLICIES = {
  0: 'as computed',
  8: 'int8',
  4: 'int4',
  16: 'fp8_e4m3, PyTorch',
  17: 'fp8_e5m2, PyTorch',
  42: 'turbo_quant, PyTorch',
} as const;

const KNOWN = new Set(WORDS.values());

export function readQuantPolicy(text: string): OptionReading {
  const word = WORDS.get(text.trim().toLowerCase());
  if (word !== undefined) {
    return { value: word };
  }
  const number = readInt(text);
  return number && 'value' in number && KNOWN.has(number.value as number)
    ? number
    : { error: `must be one of 0, 4, 8, 16, 17, 42, ${[...WORDS.keys()].join(', ')}, not "${text}"` };
}
