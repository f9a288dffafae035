/** Two prompts as people paste them: where they part, and why, as far as the text can tell. */

/** Tokens of a text: exact when token ids were pasted, else from a rule of thumb. */
export interface PromptTokens {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export type BreakReason = 'never' | 'first-ends' | 'second-ends' | 'white-space' | 'letter-case' | 'digits' | 'text';

/** Where a second prompt leaves the first. */
export interface PromptBreak {
  readonly reason: BreakReason;
  /** Characters (code points) or token ids that both begin with. */
  readonly shared: number;
  /** Of the second prompt, counting from 1; absent for token ids. */
  readonly line?: number;
  readonly column?: number;
  /** What stands there in each, a few characters. */
  readonly first: string;
  readonly second: string;
}

export interface PromptPair {
  /** Token ids were pasted: every count is exact. */
  readonly exact: boolean;
  readonly first: PromptTokens;
  readonly second: PromptTokens;
  readonly shared: PromptTokens;
  readonly at: PromptBreak;
}

/** `[1, 2, 3]` or `1 2 3`: ids as an engine's tokenizer prints them. Undefined for any other text. */
export function tokenIds(text: string): readonly number[] | undefined {
  const body = text.trim().replace(/^\[([^[\]]*)\]$/, '$1');
  if (!/^\d{1,9}(?:[\s,]+\d{1,9})+[\s,]*$/.test(body)) {
    return undefined;
  }
  return body
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number);
}

export function comparePrompts(first: string, second: string): PromptPair {
  const ids = [tokenIds(first), tokenIds(second)] as const;
  return ids[0] && ids[1] ? compareIds(ids[0], ids[1]) : compareTexts(first, second);
}

const exactly = (value: number): PromptTokens => ({ value, low: value, high: value });

function compareIds(first: readonly number[], second: readonly number[]): PromptPair {
  const shared = sharedLength(first, second);
  const ends = endReason(shared, first.length, second.length);
  return {
    exact: true,
    first: exactly(first.length),
    second: exactly(second.length),
    shared: exactly(shared),
    at: {
      reason: ends ?? 'text',
      shared,
      first: first.slice(shared, shared + 4).join(' '),
      second: second.slice(shared, shared + 4).join(' '),
    },
  };
}

function compareTexts(first: string, second: string): PromptPair {
  const [a, b] = [[...first], [...second]];
  const shared = sharedLength(a, b);
  const before = b.slice(0, shared).join('');
  return {
    exact: false,
    first: estimateTokens(first),
    second: estimateTokens(second),
    shared: estimateTokens(before),
    at: {
      reason: endReason(shared, a.length, b.length) ?? breakReason(a, b, shared),
      shared,
      line: before.split('\n').length,
      column: before.length - before.lastIndexOf('\n'),
      first: excerpt(a, shared),
      second: excerpt(b, shared),
    },
  };
}

function sharedLength<T>(first: readonly T[], second: readonly T[]): number {
  const most = Math.min(first.length, second.length);
  let shared = 0;
  while (shared < most && first[shared] === second[shared]) {
    shared++;
  }
  return shared;
}

function endReason(shared: number, first: number, second: number): BreakReason | undefined {
  if (shared === first && shared === second) {
    return 'never';
  }
  return shared === first ? 'first-ends' : shared === second ? 'second-ends' : undefined;
}

function breakReason(first: readonly string[], second: readonly string[], at: number): BreakReason {
  const [a, b] = [first[at] ?? '', second[at] ?? ''];
  if (/\s/.test(a) || /\s/.test(b)) {
    return 'white-space';
  }
  if (a.toLowerCase() === b.toLowerCase()) {
    return 'letter-case';
  }
  return /\p{N}/u.test(a) && /\p{N}/u.test(b) ? 'digits' : 'text';
}

const EXCERPT = 24;

/** From where they part, in one line. */
const excerpt = (text: readonly string[], at: number): string =>
  text
    .slice(at, at + EXCERPT)
    .join('')
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥');

/**
 * *Estimated* tokens of a text. A rule of thumb, not a tokenizer, measured on 18 public texts (prose, code, JSON, YAML,
 * TypeScript's messages in 13 languages) with the vocabularies o200k_base, cl100k_base and Llama 3's: 2.4 to 5.3 characters
 * a token, about four in English and code, and 0.6 to 1.5 tokens for a character of scripts that are written without spaces.
 * The counts are in its test.
 */
export function estimateTokens(text: string): PromptTokens {
  let dense = 0;
  let plain = 0;
  for (const character of text) {
    if (
      /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{Extended_Pictographic}]/u.test(character) &&
      !/\d/.test(character)
    ) {
      dense++;
    } else {
      plain++;
    }
  }
  return {
    low: Math.floor(plain / 5.3 + 0.6 * dense),
    value: Math.round(plain / 4 + 0.85 * dense),
    high: Math.ceil(plain / 2.4 + 1.5 * dense),
  };
}
