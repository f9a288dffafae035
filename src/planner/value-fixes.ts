/** Values that an engine will not take and whose meaning is plain: what to write instead. */
import type { Fix } from '../core/engines/engine';
import type { OptionSpec } from '../core/engines/option';
import { readOptionValue } from '../core/engines/option-read';
import { nearest } from '../core/nearest';
import { withCommas } from '../core/units';
import type { Launch } from '../launch/launch';
import { optionOf } from '../launch/launch';
import type { Located } from './findings';

export function withValueFixes(launch: Launch, found: readonly Located[]): readonly Located[] {
  return found.map((located) => {
    const { finding } = located;
    const option = finding.option === undefined ? undefined : optionOf(launch, finding.option);
    return finding.code === 'bad-value' && option?.spec
      ? { ...located, finding: { ...finding, fixes: [...finding.fixes, ...meant(option.spec, option.raw)] } }
      : located;
  });
}

function meant(spec: OptionSpec, raw: string): readonly Fix[] {
  const text = raw.trim();
  const ways = [...withSuffix(text), ...asShare(text), ...withoutMarks(text), ...nearestWord(spec, text)];
  return ways
    .filter(({ value }) => 'value' in readOptionValue(spec, value))
    .map(({ value, why }) => ({ title: `Write ${spec.name} as ${value}${why}`, option: spec.name, value }));
}

interface Way {
  readonly value: string;
  readonly why: string;
}

const POWERS = 'kmgt';

/** `32k`, `32K`, `32Ki`, `32kb`: of 1,000 or of 1,024, where the letters leave it open both. */
function withSuffix(text: string): readonly Way[] {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt])(i?)b?$/i.exec(text);
  if (!match) {
    return [];
  }
  const [, digits = '', letter = '', binary] = match;
  const power = POWERS.indexOf(letter.toLowerCase()) + 1;
  return (binary ? [1024] : [1024, 1000]).flatMap((base) => {
    const value = Number(digits) * base ** power;
    const why = `: ${digits} × ${withCommas(base ** power)}`;
    return Number.isSafeInteger(value) ? [{ value: String(value), why }] : [];
  });
}

/** `90` and `90%` for a share; nobody means one of a few hundredths. */
function asShare(text: string): readonly Way[] {
  const percent = /^(\d+(?:\.\d+)?)\s*%?$/.exec(text)?.[1];
  const share = Number(percent) / 100;
  return percent !== undefined && share >= 0.05 && share <= 1
    ? [{ value: String(Number(share.toFixed(4))), why: `: ${percent} %` }]
    : [];
}

/** `32,768`, `32 768`, `32768.0`. */
function withoutMarks(text: string): readonly Way[] {
  const plain = text.replace(/(?<=\d)[, ](?=\d{3})/g, '').replace(/\.0+$/, '');
  return plain !== text && /^\d+$/.test(plain) ? [{ value: plain, why: '' }] : [];
}

function nearestWord(spec: OptionSpec, text: string): readonly Way[] {
  // A number is near another by its digits alone.
  const words = [...(spec.values ?? []), ...(spec.words ?? [])].filter((word) => !/^\d+$/.test(word));
  return nearest(text, words, 1, (word) => word).map((value) => ({ value, why: ', the nearest it takes' }));
}
