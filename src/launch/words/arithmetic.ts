/** Whole-number arithmetic as shells write it: `$((dp * 256))`. */

/** Undefined when a name is unknown or the text is more than this knows. */
export function evaluate(text: string, lookup: (name: string) => string | undefined): number | undefined {
  const tokens = text.match(/\$?\{?[A-Za-z_]\w*\}?|\$?\{?\d+\}?|\*\*|[-+*/%()]|\S/g) ?? [];
  const at = { tokens: tokens.slice(0, 200), i: 0, lookup };
  const value = sum(at);
  return at.i === at.tokens.length && value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}

interface Cursor {
  readonly tokens: readonly string[];
  i: number;
  readonly lookup: (name: string) => string | undefined;
}

function sum(c: Cursor): number | undefined {
  return chain(c, product, { '+': (a, b) => a + b, '-': (a, b) => a - b });
}

function product(c: Cursor): number | undefined {
  return chain(c, single, { '*': (a, b) => a * b, '/': (a, b) => Math.trunc(a / b), '%': (a, b) => a % b });
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

function single(c: Cursor): number | undefined {
  const token = c.tokens[c.i++] ?? '';
  if (token === '(') {
    const value = sum(c);
    return c.tokens[c.i++] === ')' ? value : undefined;
  }
  if (token === '-') {
    const value = single(c);
    return value === undefined ? undefined : -value;
  }
  if (/^\d+$/.test(token)) {
    return Number(token);
  }
  const name = /^\$?\{?(\w+)\}?$/.exec(token)?.[1];
  const text = name === undefined ? undefined : c.lookup(name);
  return text !== undefined && /^-?\d+$/.test(text.trim()) ? Number(text) : undefined;
}
