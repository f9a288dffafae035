/** Dockerfiles: what an image starts, in both forms of ENTRYPOINT and CMD, with what FROM and ENV say. */
import {
  type Cmd,
  DockerfileParser,
  type Entrypoint,
  type Env,
  type From,
  type Instruction,
  type PropertyInstruction,
} from 'dockerfile-ast';
import { assemble } from '../assemble';
import type { Insertion, TextRange } from '../launch';
import { type Lines, linesOf } from '../lines';
import { mentionsEngine } from '../mentions';
import type { Reading } from '../reading';
import { notePin, readScript } from '../shell/script';
import { jsonString } from '../text/json-string';
import { addPart, builder, finish, type Mapped, part, rangeOf, unresolvedIn } from '../text/mapped';
import { expandCompose, type Lookup } from '../words/expand';
import { readImage } from '../words/image';
import { splitWords } from '../words/split';
import { type Found, type Surroundings, startInImage } from '../words/start';
import type { Variable } from '../words/variable';
import { baseName, type TextForm } from './form';

export const dockerfile: TextForm = {
  kind: 'text',
  form: 'dockerfile',
  names: /(?:^|[\\/])(?:Docker|Container)file(?:\.[\w.-]+)?$|\.(?:docker|container)file$/i,
  recognises: () => false,
  fences: ['dockerfile', 'docker', 'containerfile'],
  read: (reading, text) => {
    if (mentionsEngine(text.text, reading.engines)) {
      readStages({ reading, text, lines: linesOf(text.text) });
    }
  },
};

interface Context {
  readonly reading: Reading;
  readonly text: Mapped;
  readonly lines: Lines;
}

interface Stage {
  readonly name: string;
  readonly image: Mapped | undefined;
  readonly environment: readonly Variable[];
  readonly entry?: Command | undefined;
  readonly command?: Command | undefined;
  /** Says itself what it starts. */
  readonly own: boolean;
}

interface Command {
  /** Exec form; a text for a shell otherwise. */
  readonly words?: readonly Mapped[];
  readonly script: Mapped;
  readonly range: TextRange;
}

function readStages(c: Context): void {
  const stages = new Map<string, Stage>();
  const args: Variable[] = [];
  let now: Stage | undefined;
  const close = () => {
    if (now) {
      stages.set(now.name, now);
      readStage(c, now);
    }
  };
  for (const instruction of DockerfileParser.parse(c.text.text).getInstructions()) {
    const keyword = instruction.getKeyword();
    if (keyword === 'FROM') {
      close();
      now = newStage(c, instruction as From, stages, args);
    } else if (keyword === 'ARG' || keyword === 'ENV') {
      const known = variablesOf(c, instruction as PropertyInstruction, [...args, ...(now?.environment ?? [])]);
      if (keyword === 'ARG') {
        args.push(...known);
      } else if (now) {
        now = { ...now, environment: [...now.environment, ...known] };
      }
    } else if (now) {
      now = told(c, now, instruction);
    }
  }
  close();
}

function newStage(c: Context, from: From, stages: ReadonlyMap<string, Stage>, args: readonly Variable[]): Stage {
  const range = from.getImageRange();
  const written = range ? slice(c, range) : undefined;
  const image = written && expandCompose(written, lookupIn(args));
  const before = image ? stages.get(image.text) : undefined;
  const name = from.getBuildStage() ?? baseName(c.reading.input.name);
  return before ? { ...before, name, own: false } : { name, image, environment: [], own: false };
}

/** CMD of an earlier ENTRYPOINT's stage is taken over, but a new ENTRYPOINT drops it. */
function told(c: Context, stage: Stage, instruction: Instruction): Stage {
  const keyword = instruction.getKeyword();
  if (keyword === 'ENTRYPOINT') {
    return {
      ...stage,
      entry: commandOf(c, instruction as Entrypoint),
      own: true,
      ...(stage.own ? {} : { command: undefined }),
    };
  }
  if (keyword === 'CMD') {
    return { ...stage, command: commandOf(c, instruction as Cmd), own: true };
  }
  if (keyword === 'RUN') {
    const range = instruction.getArgumentsRange();
    for (const word of range ? splitWords(slice(c, range)) : []) {
      notePin(c.reading, word);
    }
  }
  return stage;
}

type Place = { readonly line: number; readonly character: number };

/** As decoded offsets of the part that is read. */
const offset = (c: Context, p: Place): number => c.lines.offset({ line: p.line + 1, column: p.character + 1 });

const slice = (c: Context, range: { readonly start: Place; readonly end: Place }): Mapped =>
  part(c.text, offset(c, range.start), offset(c, range.end));

/** More than any command line holds. */
const MAX_TEXT = 100_000;

function variablesOf(
  c: Context,
  instruction: Env | PropertyInstruction,
  before: readonly Variable[],
): readonly Variable[] {
  return instruction.getProperties().flatMap((p) => {
    const range = p.getValueRange();
    if (!range) {
      return [];
    }
    const [from, to] = [offset(c, range.start), offset(c, range.end)];
    const quoted = /^(["']).*\1$/s.test(c.text.text.slice(from, to)) ? 1 : 0;
    const value = part(c.text, from + quoted, to - quoted);
    const known = expandCompose(value, lookupIn(before));
    // A value that doubles with every line is not followed.
    return known.text.length > MAX_TEXT ? [] : [{ name: p.getName(), value: known }];
  });
}

const lookupIn =
  (variables: readonly Variable[]): Lookup =>
  (name) => {
    const value = variables.findLast((v) => v.name === name)?.value;
    const unresolved = value && unresolvedIn(value);
    return unresolved === undefined ? value?.text : { unresolved };
  };

function commandOf(c: Context, instruction: Cmd | Entrypoint): Command | undefined {
  const range = instruction.getArgumentsRange();
  if (!range) {
    return undefined;
  }
  const [from, to] = [offset(c, range.start), offset(c, range.end)];
  const whole = instruction.getRange();
  const script = withoutComments(c.text, from, to);
  const place = rangeOf(c.text, offset(c, whole.start), offset(c, whole.end));
  const isList = instruction.getOpeningBracket() !== null && instruction.getClosingBracket() !== null;
  return isList ? { words: jsonWords(c.text, from, to), script, range: place } : { script, range: place };
}

const STRING = /"((?:[^"\\]|\\[\s\S])*)"/g;

const jsonWords = (text: Mapped, from: number, to: number): readonly Mapped[] =>
  [...text.text.slice(from, to).matchAll(STRING)].map((m) => {
    const at = from + m.index + 1;
    return jsonString(text, at, at + (m[1] ?? '').length);
  });

/** Lines of comment inside an instruction are taken out before the shell sees it. */
function withoutComments(text: Mapped, from: number, to: number): Mapped {
  const b = builder();
  let at = from;
  for (const comment of text.text.slice(from, to).matchAll(/^[ \t]*#[^\n]*(?:\n|$)/gm)) {
    addPart(b, text, at, from + comment.index);
    at = from + comment.index + comment[0].length;
  }
  addPart(b, text, at, to);
  return finish(b, text.layers, rangeOf(text, from, to));
}

function readStage(c: Context, stage: Stage): void {
  const { reading } = c;
  const last = stage.command ?? stage.entry;
  if (!last || !stage.own) {
    return;
  }
  const image = stage.image && readImage(stage.image, reading.engines);
  const around: Surroundings = { environment: stage.environment, hardware: {}, ...(image ? { image } : {}) };
  const ranges = [stage.entry, stage.command].flatMap((x) => (x ? [x.range] : []));
  const range = {
    start: Math.min(...ranges.map((r) => r.start)),
    end: Math.max(...ranges.map((r) => r.end)),
  };
  const place = { form: 'dockerfile' as const, title: stage.name, range };
  const found = startOf(c, stage, around);
  if (found?.kind === 'script') {
    readScript(reading, found, place);
  } else if (found) {
    const insertion = insertionOf(stage);
    reading.found(assemble(reading, { ...place, start: found, shell: false, insertion }));
  }
}

function startOf(c: Context, { entry, command, image }: Stage, around: Surroundings): Found | undefined {
  const text = entry ? (entry.words ? undefined : entry.script) : command?.words ? undefined : command?.script;
  return text
    ? { kind: 'script', ...around, script: text }
    : startInImage(entry?.words, command?.words ?? [], c.reading.engines, around, image);
}

function insertionOf({ entry, command }: Stage): Insertion | undefined {
  const last = (command?.words ?? entry?.words)?.at(-1);
  if (!last) {
    return undefined;
  }
  const at = last.extent.end;
  return { at, text: ', "--{name}", "{value}"', layers: [{ kind: 'yaml-double', range: { start: at, end: at } }] };
}
