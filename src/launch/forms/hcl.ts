/**
 * HCL (Nomad jobs, Terraform) and Cerebrium's TOML: blocks with an image, a command and its words, environment and GPUs.
 * The syntax is read as far as these need it: attributes, lists, maps, strings with `${ }`, heredocs, blocks.
 */
import { assemble } from '../assemble';
import { type HclBlock, type HclValue, readHcl, reference } from '../hcl/parse';
import type { Form, HardwareHint, Insertion, TextRange } from '../launch';
import { mentionsEngine } from '../mentions';
import type { Reading } from '../reading';
import { readScript, readShell } from '../shell/script';
import type { Mapped } from '../text/mapped';
import { part, rangeOf } from '../text/mapped';
import { gpuCount } from '../words/container';
import { startInImage } from '../words/find-start';
import { readImage } from '../words/image';
import { splitWords } from '../words/split';
import { type Found, NOTHING, nearer, surrounded } from '../words/start';
import { assignedName, type Variable } from '../words/variable';
import { baseName, type TextForm } from './form';

export const hcl: TextForm = {
  kind: 'text',
  form: 'hcl',
  names: /\.(?:tf|hcl|nomad|tofu)$/i,
  recognises: () => false,
  fences: ['hcl', 'terraform', 'tf', 'nomad'],
  read: (reading, text) => read(reading, text, 'hcl'),
};

export const cerebrium: TextForm = {
  kind: 'text',
  form: 'cerebrium',
  names: /(?:^|[\\/])cerebrium\.toml$/i,
  recognises: () => false,
  read: (reading, text) => read(reading, text, 'cerebrium'),
};

function read(reading: Reading, text: Mapped, form: Form): void {
  if (!mentionsEngine(text.text, reading.engines)) {
    return;
  }
  const root = readHcl(text, form === 'cerebrium');
  const c: Context = { reading, form, root, title: baseName(reading.input.name) };
  for (const block of walk(root, 0)) {
    readBlock(c, block);
  }
}

interface Context {
  readonly reading: Reading;
  readonly form: Form;
  readonly root: HclBlock;
  readonly title: string;
}

const MAX_DEPTH = 40;

interface Placed {
  readonly block: HclBlock;
  readonly parents: readonly HclBlock[];
}

function* walk(block: HclBlock, depth: number, parents: readonly HclBlock[] = []): Generator<Placed> {
  yield { block, parents };
  if (depth < MAX_DEPTH) {
    for (const inner of block.blocks) {
      yield* walk(inner, depth + 1, [...parents, block]);
    }
  }
}

const SCRIPTS =
  /^(?:user_data|startup_script|startup-script|custom_data|data|content|inline|script|run|command|metadata_startup_script)$/;

function readBlock(c: Context, placed: Placed): void {
  const { block, parents } = placed;
  const at = (...names: readonly string[]) => names.map((n) => block.values.get(n)?.value).find((v) => v !== undefined);
  const image = textOf(at('image', 'image_uri', 'docker_image'));
  const [command, args] = [at('command'), at('args', 'arguments')];
  // What a pod's container calls `command` replaces what the image starts; elsewhere it is given to it.
  const entry = block.type === 'container' ? command : at('entrypoint', 'entry_point');
  const given = block.type === 'container' ? [args] : [command, args];
  if (image || entry || command || args) {
    const known = image && readImage(image, c.reading.engines);
    const around = { ...NOTHING, environment: environmentOf(block, parents), ...(known ? { image: known } : {}) };
    const words = given.flatMap((v) => wordsOf(v) ?? []);
    const found = startInImage(wordsOf(entry), words, c.reading.engines, around, image);
    if (found) {
      const hardware = nearer(hardwareOf(block, parents), found.hardware);
      place(c, placed, surrounded(found, found.environment, hardware), args ?? command ?? entry);
      return;
    }
  }
  for (const [name, { value }] of block.values) {
    for (const script of SCRIPTS.test(name) ? (value.kind === 'list' ? value.items : [value]) : []) {
      readText(c, placed, script);
    }
  }
}

/** A script of a machine that is made: `user_data`, a template's file, a provisioner's commands. */
function readText(c: Context, { block, parents }: Placed, value: HclValue): void {
  if (value.kind === 'text' && mentionsEngine(value.text.text, c.reading.engines)) {
    const around = { environment: [], hardware: hardwareOf(block, parents) };
    readShell(c.reading, value.text, { form: c.form, title: titleOf(c, block, parents) }, around);
  }
}

function place(c: Context, { block, parents }: Placed, found: Found, list: HclValue | undefined): void {
  const title = titleOf(c, block, parents);
  const { range } = block;
  if (found.kind === 'script') {
    readScript(c.reading, found, { form: c.form, title, range });
    return;
  }
  const shell = list?.kind === 'text';
  const insertion = insertionOf(list, c.form);
  c.reading.found(assemble(c.reading, { form: c.form, title, range, start: found, shell, insertion }));
}

/** The nearest block with a name. */
function titleOf(c: Context, block: HclBlock, parents: readonly HclBlock[]): string {
  return [block, ...[...parents].reverse()].find((b) => b.labels.length > 0)?.labels.at(-1) ?? c.title;
}

function insertionOf(list: HclValue | undefined, form: Form): Insertion | undefined {
  const last = list?.kind === 'list' ? list.items.at(-1) : undefined;
  if (last?.kind !== 'text') {
    return undefined;
  }
  const at = last.text.extent.end;
  const range = { start: at, end: at };
  return {
    at,
    text: ', "--{name}", "{value}"',
    layers: [{ kind: 'yaml-double', range }, ...(form === 'hcl' ? [{ kind: 'hcl' as const, range }] : [])],
  };
}

const textOf = (value: HclValue | undefined): Mapped | undefined => (value?.kind === 'text' ? value.text : undefined);

/** A text is a command line. */
const wordsOf = (value: HclValue | undefined): readonly Mapped[] | undefined =>
  value?.kind === 'text'
    ? splitWords(value.text)
    : value?.kind === 'list'
      ? value.items.flatMap((i) => textOf(i) ?? [])
      : undefined;

/** `env { X = "…" }`, `environment = { X = "…" }`, `env { name = "X" value = "…" }`, `env = ["X=…"]`. */
function environmentOf(block: HclBlock, parents: readonly HclBlock[]): readonly Variable[] {
  return [...parents.slice(-2), block].flatMap((b) => [
    ...b.blocks.filter((e) => e.type === 'env' || e.type === 'environment').flatMap(blockVariables),
    ...listVariables(b.values.get('env')?.value ?? b.values.get('environment')?.value),
  ]);
}

function blockVariables(env: HclBlock): readonly Variable[] {
  const [name, value] = [textOf(env.values.get('name')?.value), textOf(env.values.get('value')?.value)];
  if (name && value) {
    return [{ name: name.text, value }];
  }
  return [...env.values].flatMap(([key, v]) => (v.value.kind === 'text' ? [{ name: key, value: v.value.text }] : []));
}

function listVariables(value: HclValue | undefined): readonly Variable[] {
  if (value?.kind === 'map') {
    return [...value.values].flatMap(([name, v]) => (v.value.kind === 'text' ? [{ name, value: v.value.text }] : []));
  }
  return (value?.kind === 'list' ? value.items : []).flatMap((item) => {
    const text = textOf(item);
    const name = text && assignedName(text.text);
    return text && name !== undefined ? [{ name, value: part(text, name.length + 1, text.text.length) }] : [];
  });
}

/** Devices of a Nomad task, limits of a pod, accelerators and machine types of a cloud, Cerebrium's hardware. */
function hardwareOf(block: HclBlock, parents: readonly HclBlock[]): HardwareHint {
  let hint: HardwareHint = {};
  const root = parents[0] ?? block;
  for (const { block: b } of [root, ...parents.slice(-3), block].flatMap((x) =>
    x === root ? [...walkHardware(x)] : [...walk(x, 0)],
  )) {
    hint = nearer(hint, hintOf(b));
  }
  return hint;
}

/** Of the whole file only what is not another's: a table of hardware. */
function* walkHardware(root: HclBlock): Generator<Placed> {
  for (const block of root.blocks) {
    if (/hardware/.test(block.type)) {
      yield* walk(block, 0);
    }
  }
}

function hintOf(b: HclBlock): HardwareHint {
  const value = (name: string) => b.values.get(name)?.value;
  const isDevice = b.type === 'device' && /gpu/.test(b.labels[0] ?? '');
  const isAccelerator = /accelerator/.test(b.type);
  const limits = [value('limits'), value('requests')].find((v) => v?.kind === 'map');
  const limit = limits?.kind === 'map' ? limits.values.get('nvidia.com/gpu')?.value : undefined;
  const count =
    (isDevice || isAccelerator ? value('count') : undefined) ?? limit ?? value('gpu_count') ?? value('gpus');
  const gpu =
    (isAccelerator ? value('type') : undefined) ?? value('instance_type') ?? value('machine_type') ?? value('compute');
  const number = count && numberOf(count);
  return {
    ...(gpu?.kind === 'text' ? { gpu: { text: gpu.text.text, range: rangeOf(gpu.text) } } : {}),
    ...(number ? { count: number } : {}),
  };
}

function numberOf(value: HclValue): { readonly value: number; readonly range: TextRange } | undefined {
  const text = value.kind === 'text' ? value.text.text : value.kind === 'other' ? value.written : '';
  const count = gpuCount(text.trim());
  return count === undefined || (value.kind !== 'text' && value.kind !== 'other')
    ? undefined
    : { value: count, range: reference(value) };
}
