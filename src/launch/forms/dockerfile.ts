/** Dockerfiles: what an image starts, in both forms of ENTRYPOINT and CMD, with what FROM and ENV say. */
import { assemble } from '../assemble';
import { type Instruction, instructionsOf, propertiesOf } from '../dockerfile/instructions';
import type { Insertion, TextRange } from '../launch';
import { mentionsEngine } from '../mentions';
import type { Reading } from '../reading';
import { notePin, readScript } from '../shell/script';
import { jsonString } from '../text/json-string';
import { addPart, builder, finish, type Mapped, part, rangeOf, unresolvedIn } from '../text/mapped';
import { expandCompose, type Lookup } from '../words/expand';
import { startInImage } from '../words/find-start';
import { readImage } from '../words/image';
import { splitWords } from '../words/split';
import type { Found, Surroundings } from '../words/start';
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
      readStages({ reading, text });
    }
  },
};

interface Context {
  readonly reading: Reading;
  readonly text: Mapped;
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
  for (const instruction of instructionsOf(c.text.text)) {
    const { keyword } = instruction;
    if (keyword === 'FROM') {
      close();
      now = newStage(c, instruction, stages, args);
    } else if (keyword === 'ARG' || keyword === 'ENV') {
      const known = variablesOf(c, instruction, [...args, ...(now?.environment ?? [])]);
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

function newStage(c: Context, from: Instruction, stages: ReadonlyMap<string, Stage>, args: readonly Variable[]): Stage {
  const written = c.text.text.slice(from.args, from.to);
  const [, flags = '', name = '', stage] = /^((?:--\S+\s+)*)(\S+)(?:\s+as\s+(\S+))?/i.exec(written) ?? [];
  const at = from.args + flags.length;
  const image = name === '' ? undefined : expandCompose(part(c.text, at, at + name.length), lookupIn(args));
  const before = image ? stages.get(image.text) : undefined;
  const title = stage ?? baseName(c.reading.input.name);
  return before ? { ...before, name: title, own: false } : { name: title, image, environment: [], own: false };
}

/** CMD of an earlier ENTRYPOINT's stage is taken over, but a new ENTRYPOINT drops it. */
function told(c: Context, stage: Stage, instruction: Instruction): Stage {
  const { keyword } = instruction;
  if (keyword === 'ENTRYPOINT') {
    return {
      ...stage,
      entry: commandOf(c, instruction),
      own: true,
      ...(stage.own ? {} : { command: undefined }),
    };
  }
  if (keyword === 'CMD') {
    return { ...stage, command: commandOf(c, instruction), own: true };
  }
  if (keyword === 'RUN') {
    for (const word of splitWords(part(c.text, instruction.args, instruction.to))) {
      notePin(c.reading, word);
    }
  }
  return stage;
}

/** More than any command line holds. */
const MAX_TEXT = 100_000;

function variablesOf(c: Context, instruction: Instruction, before: readonly Variable[]): readonly Variable[] {
  return propertiesOf(c.text.text, instruction).flatMap(({ name, from, to }) => {
    const value = expandCompose(part(c.text, from, to), lookupIn(before));
    // A value that doubles with every line is not followed.
    return value.text.length > MAX_TEXT ? [] : [{ name, value }];
  });
}

const lookupIn =
  (variables: readonly Variable[]): Lookup =>
  (name) => {
    const value = variables.findLast((v) => v.name === name)?.value;
    const unresolved = value && unresolvedIn(value);
    return unresolved === undefined ? value?.text : { unresolved };
  };

function commandOf(c: Context, { from, args, to }: Instruction): Command {
  const script = withoutComments(c.text, args, to);
  const range = rangeOf(c.text, from, to);
  return /^\s*\[[\s\S]*\]\s*$/.test(script.text)
    ? { words: jsonWords(c.text, args, to), script, range }
    : { script, range };
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
