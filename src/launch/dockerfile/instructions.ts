/**
 * Instructions of a Dockerfile with their places. Our own, because the library for it costs the web bundle 60 KB of the
 * 1.2 MB it may have, and of a Dockerfile only a few instructions matter here.
 */

export interface Instruction {
  /** In capitals. */
  readonly keyword: string;
  /** Of the whole instruction. */
  readonly from: number;
  /** Where its arguments begin. */
  readonly args: number;
  readonly to: number;
}

const LINE = /[^\n]*(?:\n|$)/y;

export function instructionsOf(text: string): readonly Instruction[] {
  const goesOn = /^\s*#\s*escape\s*=\s*`/im.test(text.slice(0, 500)) ? '`' : '\\';
  const found: Instruction[] = [];
  for (let at = 0; at < text.length; ) {
    const start = at;
    const line = lineAt(text, at);
    at += line.length;
    const head = /^[ \t\uFEFF]*([A-Za-z]+)[ \t]*/.exec(line);
    if (!head || /^\s*#/.test(line)) {
      continue;
    }
    let end = start + line.trimEnd().length;
    let last = line;
    while (last.trimEnd().endsWith(goesOn) && at < text.length) {
      [last, end, at] = continuation(text, at, end, last);
    }
    const keyword = (head[1] as string).toUpperCase();
    const from = start + line.length - line.trimStart().length;
    found.push({ keyword, from, args: Math.min(start + head[0].length, end), to: end });
    at = /^(?:RUN|COPY|ADD)$/.test(keyword) ? afterHeredocs(text, text.slice(start, end), at) : at;
  }
  return found;
}

const lineAt = (text: string, at: number): string => {
  LINE.lastIndex = at;
  return LINE.exec(text)?.[0] ?? '';
};

/** Comments and empty lines inside an instruction do not end it. */
function continuation(text: string, at: number, end: number, last: string): [string, number, number] {
  const line = lineAt(text, at);
  const next = at + line.length;
  return /^\s*(?:#|$)/.test(line) ? [last, end, next] : [line, at + line.trimEnd().length, next];
}

function afterHeredocs(text: string, instruction: string, from: number): number {
  let at = from;
  for (const mark of instruction.matchAll(/<<-?\s*["']?(\w+)["']?/g)) {
    const close = new RegExp(`^[ \\t]*${mark[1]}[ \\t]*\\r?(?:\\n|$)`, 'm').exec(text.slice(at));
    at = close ? at + close.index + close[0].length : text.length;
  }
  return at;
}

export interface Property {
  readonly name: string;
  /** Of the value, without quotes. */
  readonly from: number;
  readonly to: number;
}

const PAIR = /([A-Za-z_]\w*)=("(?:[^"\\]|\\[\s\S])*"|'[^']*'|(?:\\[^\r\n]|[^\s\\])*)/g;

/** `ENV A=1 B="2"`, `ENV A all the rest`, `ARG A=1`. */
export function propertiesOf(text: string, { args, to }: Instruction): readonly Property[] {
  const written = text.slice(args, to);
  const old = /^([A-Za-z_]\w*)[ \t]+(?=[^\s=])/.exec(written);
  if (old) {
    return [{ name: old[1] as string, from: args + old[0].length, to }];
  }
  return [...written.matchAll(PAIR)].map((m) => {
    const value = m[2] as string;
    const end = args + m.index + m[0].length;
    const quoted = /^(["'])[\s\S]*\1$/.test(value) && value.length > 1 ? 1 : 0;
    return { name: m[1] as string, from: end - value.length + quoted, to: end - quoted };
  });
}
