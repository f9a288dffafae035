/** justfiles: recipes line by line, or whole where they begin with `#!`, with what `{{ }}` stands for. */
import { readEnvFile } from '../env-file';
import type { Layer } from '../launch';
import { mentionsEngine } from '../mentions';
import type { Reading } from '../reading';
import { readShell } from '../shell/script';
import { jsonString } from '../text/json-string';
import { logicalLines } from '../text/logical-lines';
import { addPart, addUnit, builder, finish, type Mapped, part, rangeOf, unit } from '../text/mapped';
import { type Replacement, replaceIn } from '../text/replace';
import { NOTHING } from '../words/start';
import type { Variable } from '../words/variable';
import { baseName, type TextForm } from './form';

export const justfile: TextForm = {
  kind: 'text',
  form: 'justfile',
  names: /(?:^|[\\/])\.?justfile$|\.just$/i,
  recognises: (head) => /^#!.*\bjust\b/.test(head),
  fences: ['just', 'justfile'],
  read: (reading, text) => {
    if (mentionsEngine(text.text, reading.engines)) {
      readJustfile(reading, text);
    }
  },
};

/** What a name holds; a text says why it is not known. */
type Known = Mapped | string;

interface Just {
  readonly reading: Reading;
  readonly text: Mapped;
  readonly names: Map<string, Known>;
  readonly exported: Set<string>;
}

const ASSIGNMENT = /^(export\s+)?([A-Za-z_][\w-]*)\s*:=\s*/;
const HEADER = /^@?([A-Za-z_][\w-]*)((?:\s(?:[^:#"']|"[^"]*"|'[^']*')*)?):(?!=)/;

function readJustfile(reading: Reading, text: Mapped): void {
  const j: Just = { reading, text, names: new Map(), exported: new Set() };
  const lines = logicalLines(text.text, '\\');
  if (lines.some((l) => /^set\s+dotenv-load\b/.test(text.text.slice(l.from, l.to)))) {
    const at = rangeOf(text, 0, 0);
    for (const [name, value] of readEnvFile(reading.file('.env') ?? '')) {
      j.names.set(name, unit(value, at));
      j.exported.add(name);
    }
  }
  let recipe:
    | { title: string; names: Map<string, Known>; exported: readonly string[]; lines: { from: number; to: number }[] }
    | undefined;
  const recipes: NonNullable<typeof recipe>[] = [];
  for (const { from, to } of lines) {
    const line = text.text.slice(from, to);
    const header = HEADER.exec(line);
    const assignment = ASSIGNMENT.exec(line);
    if (/^[ \t]+\S/.test(line) && recipe) {
      recipe.lines.push({ from, to });
    } else if (assignment) {
      assign(j, assignment, from + assignment[0].length, to);
    } else if (header) {
      const at = from + line.indexOf(header[2] ?? '', (header[1] ?? '').length);
      const written = header[2] ?? '';
      const exported = [...written.matchAll(/\$[+*]?([A-Za-z_][\w-]*)/g)].map((p) => p[1] as string);
      recipe = { title: header[1] as string, names: parameters(j, written, at), exported, lines: [] };
      recipes.push(recipe);
    } else if (/^[^\s#]/.test(line)) {
      recipe = undefined;
    }
  }
  for (const { title, names, exported, lines: body } of recipes) {
    const own = { names: new Map([...j.names, ...names]), exported: new Set([...j.exported, ...exported]) };
    readRecipe({ ...j, ...own }, title, body);
  }
}

function assign(j: Just, match: RegExpExecArray, from: number, to: number): void {
  const name = match[2] as string;
  if (match[1]) {
    j.exported.add(name);
  }
  const end =
    from +
    j.text.text
      .slice(from, to)
      .replace(/\s+#[^"']*$/, '')
      .trimEnd().length;
  j.names.set(name, value(j, from, end));
}

const PARAMETER = /[$+*]?([A-Za-z_][\w-]*)(?:=("[^"]*"|'[^']*'|[\w.-]+))?/g;

function parameters(j: Just, written: string, at: number): Map<string, Known> {
  const found = new Map<string, Known>();
  for (const p of written.matchAll(PARAMETER)) {
    const name = p[1] as string;
    const from = at + p.index + p[0].length - (p[2]?.length ?? 0);
    found.set(
      name,
      p[2] === undefined ? `${name} is what the recipe is called with` : value(j, from, from + p[2].length),
    );
  }
  return found;
}

/** More than any command line holds. */
const MAX_TEXT = 100_000;

/** A string, a name, either with `+` between; `env('X', 'default')` is its default. */
function value(j: Just, from: number, to: number): Known {
  const written = j.text.text.slice(from, to);
  const b = builder();
  let rest = 0;
  let slash = false;
  for (const term of written.matchAll(/\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+\([^()]*\)|[\w.-]+)\s*(\+|\/|$)/gy)) {
    const at = from + term.index + term[0].indexOf(term[1] as string);
    const one = single(j, term[1] as string, at);
    if (typeof one === 'string') {
      return one;
    }
    if (slash) {
      addUnit(b, '/', rangeOf(j.text, at, at));
    }
    addPart(b, one, 0, one.text.length);
    if (b.text.length > MAX_TEXT) {
      return `${written.slice(0, 60)} is too long`;
    }
    slash = term[2] === '/';
    rest = term.index + term[0].length;
  }
  return rest === written.length
    ? finish(b, [], rangeOf(j.text, from, to))
    : `${written.slice(0, 60)} is known when the recipe runs`;
}

function single(j: Just, written: string, at: number): Known {
  const call = /^env(?:_var)?(?:_or_default)?\(\s*(?:"[^"]*"|'[^']*')\s*,\s*/.exec(written);
  if (call) {
    return single(j, written.slice(call[0].length, -1).trim(), at + call[0].length);
  }
  if (written.endsWith(')')) {
    return `${written} is known when the recipe runs`;
  }
  if (written.startsWith('"')) {
    return jsonString(j.text, at + 1, at + written.length - 1);
  }
  if (written.startsWith("'")) {
    const text = part(j.text, at + 1, at + written.length - 1);
    const outer: readonly Layer[] = [{ kind: 'pieces', range: text.extent }];
    return { ...text, segments: text.segments.map((s) => ({ ...s, outer })) };
  }
  return j.names.get(written) ?? `${written} is not set in this file`;
}

function filled(j: Just, text: Mapped): Mapped {
  return replaceIn(text, /\{\{\{\{|\{\{((?:[^{}]|\{[^{}]*\})*)\}\}/g, (match): Replacement => {
    if (match[1] === undefined) {
      return { text: '{{' };
    }
    const inner = match[1].trim();
    const known = /^[\w-]+$/.test(inner)
      ? (j.names.get(inner) ?? `${inner} is not set in this file`)
      : `${inner} is known when the recipe runs`;
    return typeof known === 'string'
      ? { unresolved: known, as: match[0].replace(/[^\w{}.-]/g, '_') }
      : { mapped: known };
  });
}

function readRecipe(j: Just, title: string, lines: readonly { readonly from: number; readonly to: number }[]): void {
  const [first] = lines;
  const last = lines.at(-1);
  if (!first || !last) {
    return;
  }
  if (/^\s*#!/.test(j.text.text.slice(first.from, first.to))) {
    const shebang = j.text.text.slice(first.from, first.to);
    const body = part(j.text, first.to, last.to);
    if (/\b(?:ba|z|da)?sh\b/.test(shebang)) {
      readText(j, title, body);
    } else if (/\bpython/.test(shebang)) {
      const margin = /^[ \t]*/m.exec(body.text.replace(/^\s*\n/, ''))?.[0] ?? '';
      const flush = replaceIn(body, new RegExp(`^${margin}`, 'gm'), () => ({ skip: true }));
      j.reading.fenced('python', filled(j, flush), 'justfile', title);
    }
    return;
  }
  for (const { from, to } of lines) {
    const lead = /^[@\-\s]*/.exec(j.text.text.slice(from, to))?.[0].length ?? 0;
    readText(j, title, part(j.text, from + lead, to));
  }
}

function readText(j: Just, title: string, text: Mapped): void {
  const script = filled(j, text);
  if (!mentionsEngine(script.text, j.reading.engines)) {
    return;
  }
  const environment: readonly Variable[] = [...j.exported].flatMap((name) => {
    const known = j.names.get(name);
    return known === undefined || typeof known === 'string' ? [] : [{ name, value: known }];
  });
  const place = { form: 'justfile' as const, title: title === '' ? baseName(j.reading.input.name) : title };
  readShell(j.reading, script, place, { ...NOTHING, environment });
}
