/** Markdown: the fenced blocks of a runbook, each read by the form its info string names. */

import { mentionsEngine } from '../mentions';
import { addPart, builder, finish, type Mapped, part, rangeOf } from '../text/mapped';
import { replaceIn } from '../text/replace';
import { baseName, type TextForm } from './form';

export const markdown: TextForm = {
  kind: 'text',
  form: 'markdown',
  names: /\.(?:md|markdown|mdx|qmd|rmd)$/i,
  recognises: () => false,
  read: (reading, text) => {
    if (!mentionsEngine(text.text, reading.engines)) {
      return;
    }
    for (const fence of fences(text.text)) {
      const whole = part(text, fence.from, fence.to);
      const keepsMargin = /^(?:ya?ml|json)$/.test(fence.language) && !fence.margin.includes('>');
      const inner = keepsMargin ? whole : unindented(whole, fence.margin);
      const title = fence.heading ?? baseName(reading.input.name);
      reading.fenced(fence.language, PROMPTS.has(fence.language) ? withoutPrompts(inner) : inner, 'markdown', title);
    }
  },
};

/** YAML keeps its margin: there it means nothing as long as it is the same. */
function unindented(m: Mapped, margin: string): Mapped {
  const pattern = margin.replace(/[ \t]*>[ \t]*/g, '[ \\t]*>[ \\t]?');
  return margin === '' ? m : replaceIn(m, new RegExp(`^${pattern}`, 'gm'), () => ({ skip: true }));
}

interface Fence {
  readonly language: string;
  readonly from: number;
  readonly to: number;
  /** White space and the marks of quotes before the fence, and before each of its lines. */
  readonly margin: string;
  /** The nearest heading above it. */
  readonly heading?: string;
}

const LINE =
  /^((?:[ \t]*>){0,9}[ \t]*(?:[-*+]|\d+[.)])?[ \t]*)(`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]*)[^\n`]*$|^(#{1,6})[ \t]+(.+?)[ \t#]*$/gm;

/** More than a document that people read holds. */
const MAX_FENCES = 500;

/** A fence ends at one of its own kind that is at least as long; one that is not closed runs to the end. */
function fences(text: string): readonly Fence[] {
  const found: Fence[] = [];
  let heading: string | undefined;
  let open: { mark: string; language: string; margin: string; from: number; heading: string | undefined } | undefined;
  const close = (to: number) => {
    if (open && found.length < MAX_FENCES) {
      const { language, from, margin, heading: above } = open;
      found.push({
        language,
        margin,
        from,
        to: Math.max(from, to),
        ...(above === undefined ? {} : { heading: above }),
      });
    }
    open = undefined;
  };
  for (const line of text.replaceAll('\r\n', ' \n').matchAll(LINE)) {
    const mark = line[2];
    if (open) {
      if (mark?.startsWith(open.mark) && (line[3] ?? '') === '') {
        close(line.index);
      }
    } else if (mark) {
      const end = text.indexOf('\n', line.index);
      const margin = (line[1] ?? '').replace(/[^\s>]/g, ' ');
      open = {
        mark,
        margin,
        language: (line[3] ?? '').toLowerCase(),
        from: end === -1 ? text.length : end + 1,
        heading,
      };
    } else {
      heading = line[5] ?? heading;
    }
  }
  close(text.length);
  return found;
}

/** Blocks that show a terminal: what is typed stands behind a prompt, and the rest is what was printed. */
const PROMPTS: ReadonlySet<string> = new Set([
  'console',
  'shell-session',
  'terminal',
  'sh',
  'bash',
  'shell',
  'zsh',
  '',
]);

/** `$`, `user@host:~$`, `(venv) [root@host ~]#`; a `#` alone begins a comment. */
const PROMPT = /^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.@~:/-]*\$|\[[^\]\n]+\][$#]|[\w.-]+@[\w.~:/-]+[#%]|➜[ \t]+\S+) /;

/** What stands for the reader's own: `<your-model>` would be a redirection. */
const BLANK = /(?<=[\s=/])<([A-Za-z][\w .:/-]*)>(?=[\s/]|$)/g;

function withoutPrompts(given: Mapped): Mapped {
  const m = replaceIn(given, BLANK, ([whole]) => ({
    unresolved: `${whole} is for the reader to fill in`,
    as: whole.replace(/[<> ]/g, '_'),
  }));
  if (!new RegExp(PROMPT.source, 'm').test(m.text)) {
    return m;
  }
  const b = builder();
  let continues = false;
  for (const line of m.text.matchAll(/[^\n]*(?:\n|$)/g)) {
    const prompt = continues ? /^[ \t]*> /.exec(line[0]) : PROMPT.exec(line[0]);
    if (prompt || continues) {
      addPart(b, m, line.index + (prompt?.[0].length ?? 0), line.index + line[0].length);
      continues = /\\\s*$/.test(line[0]);
    }
  }
  return finish(b, m.layers, rangeOf(m));
}
