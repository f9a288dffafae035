/** What a report says, before any face: made once by `sections.ts`, drawn by text, Markdown and HTML. All strings are clean. */

export type Tone = 'good' | 'bad' | 'unsure';

/** One of the two lines that a reader looks for first. */
export interface Answer {
  readonly label: string;
  readonly tone: Tone;
  readonly text: string;
}

export interface Row {
  readonly label: string;
  readonly value: string;
  /** The formula in symbols, the same with numbers in; or remarks. */
  readonly how?: readonly string[];
}

export type Block =
  | { readonly kind: 'rows'; readonly rows: readonly Row[] }
  | { readonly kind: 'table'; readonly columns: readonly Column[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'log'; readonly caption: string; readonly lines: readonly string[] }
  /** Bars of text, for faces without pictures; what they show stands in a table too. */
  | { readonly kind: 'chart'; readonly caption: string; readonly bars: readonly Bar[] }
  | { readonly kind: 'findings'; readonly findings: readonly FindingText[] };

export interface Bar {
  readonly label: string;
  readonly value: string;
  /** Of the longest bar, 0…1. */
  readonly share: number;
}

export interface Column {
  readonly title: string;
  readonly numeric?: true;
}

export interface FindingText {
  readonly severity: 'error' | 'warning' | 'information' | 'hint';
  readonly code: string;
  readonly place: string;
  readonly message: string;
  readonly fixes: readonly string[];
}

export interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
}

/** One launch. */
export interface PlanText {
  readonly title: string;
  readonly place: string;
  /** Model, engine, GPUs in one line. */
  readonly subject: string;
  readonly answers: readonly Answer[];
  readonly sections: readonly Section[];
}

/** What a report is called unless it says otherwise. */
export const TITLE = 'KV cache capacity';

export interface ReportText {
  /** Absent: of capacity. */
  readonly title?: string;
  readonly plans: readonly PlanText[];
  readonly problems: readonly { readonly place: string; readonly message: string }[];
}

/**
 * Text out of a file, safe to show: control characters and the marks that reorder text are shown as `\u{202e}`, line
 * ends become spaces. A file under review must not be able to move the cursor or rewrite what the reader sees.
 */
export function clean(text: string): string {
  return text
    .replace(/[\r\n\t]+/g, ' ')
    .replace(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** C0 and C1 controls, and the characters of Unicode that are invisible or change direction (categories Cc and Cf, separators). */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
