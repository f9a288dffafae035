/**
 * Templates around YAML: Helm and Go `{{ … }}`, Jinja `{% … %}`, GitHub's `${{ … }}`. The parser gets a text of the same
 * length in which they are words of private-use characters, comments or blanks, so that every place stays what it is.
 */

/** What prints something nobody knows here. */
const PRINTS = '\uE0F0';
/** What prints nothing. */
const SILENT = '\uE0F1';

export interface Template {
  /** As long as the text. */
  readonly text: string;
  /** Lines of a block scalar that hold only what prints nothing. */
  readonly blanks: readonly { readonly start: number; readonly end: number }[];
  /** What stands between `if` and `end`. */
  readonly conditions: readonly Condition[];
}

export interface Condition {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
  /** The action as it is written. */
  readonly action: string;
}

interface Action {
  readonly start: number;
  readonly end: number;
  readonly word: string;
  readonly written: string;
}

let last: { readonly of: string; readonly template: Template | undefined } | undefined;

/** Undefined for a text without templates. One text is asked for again and again: for each of its documents. */
export function templateOf(text: string): Template | undefined {
  if (last?.of !== text) {
    const actions = text.includes('{{') || text.includes('{%') ? [...actionsIn(text)] : [];
    last = { of: text, template: actions.length === 0 ? undefined : masked(text, actions) };
  }
  return last.template;
}

/** An action longer than this is none, and a line is looked over for its actions no further: time stays linear. */
const LONGEST = 4096;

function* actionsIn(text: string): Generator<Action> {
  const opening = /\{\{|\{%/g;
  for (let open = opening.exec(text); open; open = opening.exec(text)) {
    const close = open[0] === '{{' ? '}}' : '%}';
    const at = text.slice(open.index, open.index + LONGEST).indexOf(close, 2);
    const end = open.index + at + 2;
    const inner = text.slice(open.index + 2, end - 2);
    // Only a comment goes over several lines: braces of maps stand on many.
    if (at === -1 || (/[\r\n]/.test(inner) && !/^-?\s*\/\*/.test(inner))) {
      continue;
    }
    const start = open[0] === '{{' && text[open.index - 1] === '$' ? open.index - 1 : open.index;
    yield { start, end, word: wordOf(inner, close === '%}'), written: text.slice(start, end).replace(/\s+/g, ' ') };
    opening.lastIndex = end;
  }
}

const KEYWORDS =
  /^(?:if|else|elif|end|endif|endfor|endwith|range|for|with|define|block|set|macro|endmacro|break|continue)\b/;

/** `if`, `end` …; `silent` for a comment or an assignment; empty for what prints. */
function wordOf(inner: string, statement: boolean): string {
  const plain = inner.replace(/^-?\s*/, '');
  const keyword = KEYWORDS.exec(plain)?.[0];
  return keyword ?? (statement || /^\/\*|^\$\w+\s*:?=/.test(plain) ? 'silent' : '');
}

function masked(text: string, actions: readonly Action[]): Template {
  const blocks = blockScalars(text);
  const blanks: { start: number; end: number }[] = [];
  const pieces: string[] = [];
  let from = 0;
  let block = 0;
  for (const action of actions) {
    pieces.push(text.slice(from, action.start));
    from = action.end;
    while ((blocks[block]?.end ?? text.length) <= action.start && block < blocks.length) {
      block++;
    }
    const inBlock = (blocks[block]?.start ?? text.length) <= action.start;
    const line = wholeLine(text, action, inBlock);
    if (line && inBlock && action.word !== '') {
      blanks.push(line);
    }
    const written = text.slice(action.start, action.end);
    const dash = inBlock || line || action.word === '' ? undefined : dashAfter(text, action);
    if (dash !== undefined) {
      pieces.push(`-${' '.repeat(dash - action.start)}`);
      from = dash + 1;
    } else if (!inBlock && !line && action.word !== '' && isBetween(text, action)) {
      pieces.push(written.replace(/[^\r\n]/g, ' '));
    } else {
      pieces.push(mask(written, action, line !== undefined, inBlock));
    }
  }
  pieces.push(text.slice(from));
  return { text: pieces.join(''), blanks, conditions: conditionsOf(actions) };
}

function mask(written: string, action: Action, alone: boolean, inBlock: boolean): string {
  if (alone && inBlock && action.word !== '') {
    return written.replace(/[^\r\n]/g, ' ');
  }
  if (alone && !inBlock) {
    return written.replace(/^([ \t]*)[^\r\n \t]/gm, '$1#');
  }
  return written.replace(/[^\r\n]/g, action.word === '' ? PRINTS : SILENT);
}

const ACTIONS = /\{\{[^\n]*?\}\}|\{%[^\n]*?%\}/g;

/** `{{ if .x }}- --flag{{ end }}`: where the dash stands. It is an item like its neighbours, whose column is the action's. */
function dashAfter(text: string, action: Action): number | undefined {
  const before = text.slice(text.lastIndexOf('\n', action.start - 1) + 1, action.start);
  const gap = /^[ \t]*(?=- )/.exec(text.slice(action.end, action.end + LONGEST))?.[0];
  return gap !== undefined && /^[ \t]*$/.test(before) ? action.end + gap.length : undefined;
}

/** Between the items of a list or map in brackets, not in the text of one. */
function isBetween(text: string, action: Action): boolean {
  const start = text.lastIndexOf('\n', action.start - 1) + 1;
  if (action.start - start > LONGEST) {
    return false;
  }
  const before = text.slice(start, action.start).replace(ACTIONS, '');
  const quotes = (q: RegExp) => before.match(q)?.length ?? 0;
  return (
    /["',[\]{}][ \t]*$/.test(before) &&
    quotes(/(?<!\\)"/g) % 2 === 0 &&
    (quotes(/'/g) % 2 === 0 || /"[^"]*'[^"]*"/.test(before))
  );
}

/** The lines of an action that has them for itself; outside a text it may share them with others. */
function wholeLine(text: string, action: Action, inBlock: boolean): { start: number; end: number } | undefined {
  const start = text.lastIndexOf('\n', action.start - 1) + 1;
  const newline = text.indexOf('\n', action.end);
  const end = newline === -1 ? text.length : newline;
  if (end - start > LONGEST) {
    return undefined;
  }
  const alone = (part: string) => (inBlock ? part : part.replace(ACTIONS, ''));
  const before = alone(text.slice(start, action.start));
  const after = alone(text.slice(action.end, end));
  return /^[ \t]*$/.test(before) && /^[ \t\r]*(?:#.*)?$/.test(after) ? { start, end } : undefined;
}

/** Where block scalars stand, by their headers and indents: templates may break what a parser would need. */
function blockScalars(text: string): readonly { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  let open: { indent: number; start: number } | undefined;
  let at = 0;
  for (const line of text.split('\n')) {
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    const content = line.trim();
    if (open && content !== '' && indent <= open.indent && !/^\{[{%]/.test(content)) {
      found.push({ start: open.start, end: at });
      open = undefined;
    }
    if (!open && /(?:^|[:-])[ \t]+(?:[&!]\S+[ \t]+)*[|>][+-]?\d?[+-]?[ \t\r]*(?:#.*)?$/.test(line)) {
      open = { indent: parentIndent(line), start: at + line.length + 1 };
    }
    at += line.length + 1;
  }
  return open ? [...found, { start: open.start, end: text.length }] : found;
}

/** The column of what holds the scalar: a key, or the dash of an item. */
function parentIndent(line: string): number {
  const lead = /^( *(?:- +)*)/.exec(line)?.[1] ?? '';
  return /^[ ]*(?:- +)*[|>]/.test(line) ? lead.lastIndexOf('-') : lead.length;
}

function conditionsOf(actions: readonly Action[]): readonly Condition[] {
  const found: Condition[] = [];
  const open: Action[] = [];
  for (const action of actions) {
    if (/^(?:if|range|for|with|define|block|macro)$/.test(action.word)) {
      open.push(action);
    } else if (/^(?:else|elif)$/.test(action.word)) {
      const before = open.pop();
      if (before) {
        found.push(...conditionOf(before, action.start));
        open.push({ ...action, word: 'if' });
      }
    } else if (action.word.startsWith('end')) {
      const before = open.pop();
      if (before) {
        found.push(...conditionOf(before, action.start));
      }
    }
  }
  return found;
}

const conditionOf = (action: Action, end: number): readonly Condition[] =>
  /^(?:define|block|macro)$/.test(action.word)
    ? []
    : [{ start: action.end, end, reason: `it depends on the template’s ${action.written}`, action: action.written }];

export const isMasked = (text: string): boolean => text.includes(PRINTS) || text.includes(SILENT);

/** Stretches of a decoded text: plain, printing or silent. */
export function* stretches(text: string): Generator<{ from: number; to: number; kind: 'plain' | 'prints' | 'silent' }> {
  let from = 0;
  while (from < text.length) {
    const kind = kindOf(text[from]);
    let to = from + 1;
    while (to < text.length && kindOf(text[to]) === kind) {
      to++;
    }
    yield { from, to, kind };
    from = to;
  }
}

const kindOf = (c: string | undefined): 'plain' | 'prints' | 'silent' =>
  c === PRINTS ? 'prints' : c === SILENT ? 'silent' : 'plain';

/** One word to every reader, a shell included. */
export const asWord = (written: string): string => written.replace(/[^\w.]/g, '·');

/** The innermost condition around `at` that begins after `from`. */
export const conditionAt = (template: Template, from: number, at: number): Condition | undefined =>
  template.conditions.find((c) => c.start >= from && c.start <= at && at < c.end);
