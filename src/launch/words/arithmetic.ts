/** Whole-number arithmetic as shells write it: `$((dp * 256))`. */

/** Undefined when a name is unknown or the text is more than this knows. */
export function evaluate(text: string, lookup: (name: string) => string | undefined): number | undefined {
  const tokens = text.match(/\$?\{?[A-Za-z_]\w*\}?|\$?\{?\d+\}?|\*\*|<<|>>|[-+*/%()]|\S/g) ?? [];
  const at = { tokens: tokens.slice(0, 200), i: 0, lookup };
  const value = shifted(at);
  return at.i === at.tokens.length && value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}

interface Cursor {
  readonly tokens: readonly string[];
  i: number;
  readonly lookup: (name: string) => string | undefined;
}

function shifted(c: Cursor): number | undefined {
  return chain(c, sum, { '<<': (a, b) => a * 2 ** b, '>>': (a, b) => Math.floor(a / 2 ** b) });
}

function sum(c: Cursor): number | undefined {
  return chain(c, product, { '+': (a, b) => a + b, '-': (a, b) => a - b });
}

function product(c: Cursor): number | undefined {
  return chain(c, power, { '*': (a, b) => a * b, '/': (a, b) => Math.trunc(a / b), '%': (a, b) => a % b });
}

type Operators = Readonly<Record<string, (a: number, b: number) => number>>;

function chain(c: Cursor, operand: (c: Cursor) => number | undefined, operators: Operators): number | undefined {
  let value = operand(c);
  for (let apply = operators[c.tokens[c.i] ?? '']; apply; apply = operators[c.tokens[c.i] ?? '']) {
    c.i++;
    const right = operand(c);
    value = value === undefined || right === undefined ? undefined : apply(value, right);
  }
  return value;
}

/** `2 ** 3 ** 2` is `2 ** 9`. */
function power(c: Cursor): number | undefined {
  const base = single(c);
  if (c.tokens[c.i] !== '**') {
    return base;
  }
  c.i++;
  const exponent = power(c);
  return base === undefined || exponent === undefined ? undefined : base ** exponent;
}

function single(c: Cursor): number | undefined {
  const token = c.tokens[c.i++] ?? '';
  if (token === '(') {
    const value = shifted(c);
    return c.tokens[c.i++] === ')' ? value : undefined;
  }
  if (token === '-') {
    const value = single(c);
    return value === undefined ? undefined : -value;
  }
  if (/^\d+$/.test(token)) {
    return decimal(token);
  }
  const name = /^\$?\{?(\w+)\}?$/.exec(token)?.[1];
  const text = name === undefined ? undefined : c.lookup(name);
  return text !== undefined && /^-?\d+$/.test(text.trim()) ? decimal(text.trim()) : undefined;
}

/** `010` is eight to a shell: nobody who writes it means that. */
const decimal = (text: string): number | undefined => (/^-?0\d/.test(text) ? undefined : Number(text));

/** One assignment of `(( A = B * 2, C += 1, D++ ))`; a number where its value can be known. */
export interface Assigned {
  readonly name: string;
  readonly value: number | undefined;
}

const ASSIGNMENT = /^\s*([A-Za-z_]\w*)\s*(\*\*|<<|>>|[-+*/%])?=(?!=)([\s\S]*)$/;
const STEP = /^\s*(?:(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:\+\+|--))\s*$/;

/** In order; each sees what those before it have set. A name that is set in a way not known here has no value. */
export function assignmentsIn(text: string, lookup: (name: string) => string | undefined): readonly Assigned[] {
  const set = new Map<string, number | undefined>();
  const now = (name: string) => (set.has(name) ? set.get(name)?.toString() : lookup(name));
  for (const piece of text.split(/,(?![^()]*\))/).slice(0, 200)) {
    const value = assignedValue(piece, now);
    const [target] = namesSet(piece);
    namesSet(piece).forEach((name) => {
      set.set(name, name === target ? value : undefined);
    });
  }
  return [...set].map(([name, value]) => ({ name, value }));
}

function assignedValue(piece: string, lookup: (name: string) => string | undefined): number | undefined {
  const step = STEP.exec(piece);
  if (step) {
    return evaluate(`${step[1] ?? step[2]} ${piece.includes('++') ? '+' : '-'} 1`, lookup);
  }
  const [, name, operator, value = ''] = ASSIGNMENT.exec(piece) ?? [];
  return name === undefined ? undefined : evaluate(operator ? `${name} ${operator} (${value})` : value, lookup);
}

/** Every name that it sets, or steps on, wherever that stands in it. */
const namesSet = (piece: string): readonly string[] =>
  [
    ...piece.matchAll(/([A-Za-z_]\w*)\s*(?:(?:\*\*|<<|>>|[-+*/%&|^])?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)/g),
  ].map((m) => (m[1] ?? m[2]) as string);
