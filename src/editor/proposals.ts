/** What can be written at a place: options and their values in a launch, keys and values in a `kv-planner:` comment. */
import { ENGINES, engineOf } from '../core/engines';
import type { Engine } from '../core/engines/engine';
import { availability, type OptionSpec } from '../core/engines/option';
import { findOption } from '../core/engines/option-find';
import { takesText } from '../core/engines/option-text';
import { modelIds } from '../core/model/catalogue';
import { withCommas } from '../core/units';
import { directiveIn } from '../launch/directive';
import { DIRECTIVES, isDirectiveKey } from '../launch/directive-keys';
import { nameAt } from '../launch/edit';
import type { Launch, TextRange } from '../launch/launch';
import type { Plan } from '../planner';
import { gpuChoices } from './gpu-list';
import { escaped } from './markdown';
import { optionText } from './option-about';

export interface Proposal {
  readonly label: string;
  readonly kind: 'option' | 'value' | 'model' | 'gpu' | 'key';
  /** Written in place of the label. */
  readonly insert?: string;
  readonly detail?: string;
  /** Markdown, made when somebody looks at it. */
  readonly about?: () => string;
  /** Those of a lower rank stand first. */
  readonly rank?: number;
}

export interface Proposals {
  /** What has been typed of the word. */
  readonly range: TextRange;
  readonly items: readonly Proposal[];
}

/** How far back the option of a value is looked for. */
const BACK = 400;

export function proposalsAt(text: string, offset: number, plans: readonly Plan[]): Proposals | undefined {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const entries = directiveIn(line);
  if (entries !== undefined) {
    return inDirective(entries, offset);
  }
  const plan = planBefore(text, offset, plans);
  const engine = plan && engineOf(plan.engine.id);
  if (!plan || !engine) {
    return undefined;
  }
  const before = text.slice(Math.max(0, offset - BACK), offset);
  const place: Place = { plan, engine, before, line, offset };
  return flagValues(place) ?? flags(place) ?? keyValues(place) ?? keys(place) ?? firstModel(place);
}

interface Place {
  readonly plan: Plan;
  readonly engine: Engine;
  readonly before: string;
  readonly line: string;
  readonly offset: number;
}

/** The launch that the place is in; while a word is typed its end may not be read yet. */
function planBefore(text: string, offset: number, plans: readonly Plan[]): Plan | undefined {
  const begun = plans.filter(({ launch }) => launch.range.start <= offset);
  const inside = begun.findLast(({ launch }) => offset <= launch.range.end);
  const last = begun.at(-1);
  return inside ?? (last && !/\n[ \t]*\r?\n/.test(text.slice(last.launch.range.end, offset)) ? last : undefined);
}

const typed = (word: string, offset: number): TextRange => ({ start: offset - word.length, end: offset });

function inDirective(entries: string, offset: number): Proposals {
  const word = /\S*$/.exec(entries)?.[0] ?? '';
  const [, key, value] = /^([^=]*)=["']?(.*)$/.exec(word) ?? [];
  if (key === undefined || value === undefined) {
    const said = new Set([...entries.matchAll(/([^\s=]+)=/g)].map((m) => m[1]));
    const items = Object.entries(DIRECTIVES)
      .filter(([name]) => !said.has(name))
      .map(([name, { takes, summary }], rank): Proposal => {
        return { label: name, insert: `${name}=`, kind: 'key', detail: takes, about: () => escaped(summary), rank };
      });
    return { range: typed(word, offset), items };
  }
  return { range: typed(value, offset), items: isDirectiveKey(key) ? (DIRECTIVE_VALUES[key]?.() ?? []) : [] };
}

const DIRECTIVE_VALUES: { readonly [key: string]: () => readonly Proposal[] } = {
  gpu: () =>
    gpuChoices().map(({ name, memory }) => ({
      label: name,
      // A word of its own: spaces would end it.
      insert: /[()]/.test(name) ? `"${name}"` : name.replaceAll(' ', '-'),
      kind: 'gpu',
      detail: memory,
    })),
  model: models,
  engine: () =>
    ENGINES.flatMap(({ id, title, versions }) => [
      { label: id, kind: 'value', detail: title },
      { label: `${id}@${versions.at(-1)}`, kind: 'value', detail: `${title}, newest known` },
    ]),
};

function models(): readonly Proposal[] {
  return modelIds().map((id) => ({ label: id, kind: 'model' }));
}

/** `--max`, a short form, or the dashes alone. */
function flags(place: Place): Proposals | undefined {
  const { plan, engine, before, offset } = place;
  const word = /(?:^|[\s"'`[,(])(--?(?:[A-Za-z][\w.-]*)?)$/.exec(before)?.[1];
  if (word === undefined || (word === '-' && !/[\w"'\]] +-$/.test(before)) || engine.start.byEnvironment) {
    return undefined;
  }
  const like = word.includes('_') ? '_' : '-';
  const items = optionsOf(place).flatMap((spec) =>
    /^[A-Z]|\./.test(spec.name) ? [] : [optionItem(plan, spec, `--${spec.name.replaceAll('-', like)}`)],
  );
  return { range: typed(word, offset), items };
}

/** Those that this version has, but for the ones that are written elsewhere: what is typed may read as one already. */
function optionsOf({ plan: { engine, launch }, engine: { options }, offset }: Place): readonly OptionSpec[] {
  const elsewhere = launch.options.filter(({ nameRange }) => offset < nameRange.start || offset > nameRange.end);
  const written = new Set(elsewhere.map((o) => o.name));
  return options.filter((o) => !written.has(o.name) && availability(o, engine.version.text) === 'ok');
}

const optionItem = (plan: Plan, spec: OptionSpec, label: string, insert = label): Proposal => ({
  label,
  insert,
  kind: 'option',
  detail: short(takesText(spec)),
  about: () => optionText(plan, spec),
  // What acts on the KV cache is why somebody asks here.
  rank: spec.role ? 0 : spec.effect === undefined ? 2 : 1,
});

/** A list of formats would take the name's room. */
const short = (text: string): string => (text.length > 32 ? `${text.slice(0, 31)}…` : text);

/** Behind `--option `, `--option=`, or on the next line of a list of words. */
const BEHIND_FLAG =
  /(?:^|[\s"'`[,(])(--?[A-Za-z][\w.-]*)(?:=|["']?\s*,\s*|["']?[ \t]*\r?\n[ \t]*-[ \t]+|[ \t]+(?:[\\`^]\r?\n[ \t]*)?)["']?([^\s"',=]*)$/;

function flagValues({ plan, engine, before, offset }: Place): Proposals | undefined {
  const [, flag, value] = BEHIND_FLAG.exec(before) ?? [];
  if (flag === undefined || value === undefined || value.startsWith('-')) {
    return undefined;
  }
  const found = findOption(engine.options, flag, plan.engine.version.text);
  const spec = found && 'spec' in found && found.spec.type !== 'flag' ? found.spec : undefined;
  return spec && { range: typed(value, offset), items: valuesOf(plan, spec) };
}

/** A file of keys: YAML, INI, TOML, variables; and arguments by name in Python. */
const KEY = /^[ \t]*(?:-[ \t]+|(?:export|ENV|Environment=|set|PARAMETER)[ \t]*)?["']?([A-Za-z][\w.-]*)$/;
const KEY_VALUE =
  /(?:^[ \t]*(?:-[ \t]+)?(?:(?:export|ENV|set|PARAMETER)[ \t]+|Environment=)?|[(,][ \t]*)["']?([A-Za-z][\w.-]*)["']?(?:[ \t]*[:=][ \t]*|[ \t]+)["']?([^\s"',()]*)$/;
const ARGUMENT = /[(,][ \t]*([a-z]\w*)$/;

function keyValues({ plan, engine, line, offset }: Place): Proposals | undefined {
  const [, key, value] = KEY_VALUE.exec(line) ?? [];
  const spec = key === undefined ? undefined : optionNamed(engine, key);
  return spec && value !== undefined ? { range: typed(value, offset), items: valuesOf(plan, spec) } : undefined;
}

/** By the key of a file, or the variable that sets it. */
const optionNamed = ({ options, environment = [] }: Engine, key: string): OptionSpec | undefined => {
  const dashed = key.replaceAll('_', '-');
  const all = [...options, ...environment];
  return all.find((o) => o.env === key || o.name === key || o.name === dashed || o.aliases?.includes(key));
};

function keys(place: Place): Proposals | undefined {
  const { plan, engine, line, offset } = place;
  const python = plan.launch.form.startsWith('python');
  const word = (python ? (ARGUMENT.exec(line) ?? KEY.exec(line)) : KEY.exec(line))?.[1];
  if (word === undefined) {
    return undefined;
  }
  const only = plan.launch.insertion?.only;
  const options = optionsOf(place).filter((o) => only?.test(nameAt(plan.launch.insertion, o.name)) ?? true);
  const variables = options.flatMap((o) => (o.env === undefined ? [] : [optionItem(plan, o, o.env)]));
  if ((engine.start.byEnvironment && !only) || /^[A-Z][A-Z_]+$/.test(word)) {
    return { range: typed(word, offset), items: variables };
  }
  const template = templateOf(plan.launch);
  const items = python
    ? options.map((o) => optionItem(plan, o, o.name.replaceAll('-', '_'), `${o.name.replaceAll('-', '_')}=`))
    : options.map((o) => {
        const name = nameAt(plan.launch.insertion, o.name);
        return optionItem(plan, o, name, template?.replace('{name}', name));
      });
  return python || template !== undefined ? { range: typed(word, offset), items } : undefined;
}

/** What stands from a key's name to its value, in a file whose options are keys: `{name}: `. */
function templateOf({ insertion }: Launch): string | undefined {
  const [, name, between] = /(^|[^-\w])\{name\}([^\w{"']*)["']?\{value\}/.exec(insertion?.text ?? '') ?? [];
  return name === undefined || between === undefined ? undefined : `{name}${between}`;
}

function valuesOf(plan: Plan, spec: OptionSpec): readonly Proposal[] {
  if (spec.role === 'model') {
    return models();
  }
  const words = [...(spec.values ?? []), ...(spec.words ?? []).filter((w) => w !== 'None')];
  const there = words.filter((value) => availability(spec, plan.engine.version.text, value) === 'ok');
  const truth = spec.type === 'flag' ? ['true', 'false'] : [];
  const longest = spec.role === 'max-length' ? longestOf(plan) : [];
  return [
    ...longest,
    ...[...there, ...truth].map(
      (label, rank): Proposal => ({
        label,
        kind: 'value',
        detail: spec.meanings?.[label],
        about: () => optionText(plan, spec),
        rank,
      }),
    ),
  ];
}

/** The longest context that fits for sure. */
function longestOf({ capacity }: Plan): readonly Proposal[] {
  const figure = capacity?.longestContext;
  const tokens = figure?.range?.low ?? figure?.value ?? 0;
  return tokens > 0
    ? [{ label: String(tokens), kind: 'value', detail: `${withCommas(tokens)} tokens: the longest that fits for sure` }]
    : [];
}

/** `vllm serve ` takes the model as its first word. */
function firstModel({ engine, before, offset }: Place): Proposals | undefined {
  const { positionalModel, commands } = engine.start;
  const starts = commands.map((words) => words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'));
  const found = new RegExp(`(?:${starts.join('|')})[ \\t]+["']?([\\w./-]*)$`).exec(before);
  const word = found?.[1];
  return positionalModel && word !== undefined && !word.startsWith('-')
    ? { range: typed(word, offset), items: models() }
    : undefined;
}
