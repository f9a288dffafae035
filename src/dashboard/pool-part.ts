/** What the page's simulation and benchmark take from a plan. */
import type { KvLayer } from '../core/model/model';
import type { Plan } from '../planner';
import { clean } from '../report/document';
import { machineOf } from '../simulate/machine';
import { reuseOf } from '../simulate/reuse';
import { contiguousOf, worldOf } from '../simulate/world';
import type { BenchShape, PoolPart } from './protocol';

export function poolPart(plan: Plan): PoolPart {
  const made = worldOf(plan);
  const { kv, capacity, placement, workload } = plan;
  if ('reason' in made || !kv || !capacity) {
    const text = 'reason' in made ? made.reason : 'It could not be planned.';
    const { rules, why } = reuseOf(plan);
    return {
      kind: 'reason',
      text: clean(text),
      engine: titled(plan),
      reuse: { rules, why: clean(why) },
      ...blockFigures(plan),
    };
  }
  const speed = machineOf(plan);
  return {
    kind: 'world',
    engine: titled(plan),
    world: made.options,
    contiguous: contiguousOf(plan, made.options),
    ...('machine' in speed ? { machine: speed.machine, stages: speed.stages } : { stages: 1 }),
    blocks: made.blocks,
    blockSize: made.blockSize,
    bytesPerBlock: kv.layout.bytesPerBlock.value,
    replicas: placement?.replicas ?? 1,
    prompt: workload.prompt,
    output: workload.output,
    maxLength: capacity.maxLength,
    notes: [...made.notes, ...('reason' in speed ? [speed.reason] : speed.notes)].map(clean),
  };
}

const titled = ({ engine }: Plan): string => `${engine.title} ${engine.version.text}`;

/** Sizes of blocks and requests where nothing is simulated: the scheduler is not known, or how many blocks there are. */
function blockFigures({ kv, workload }: Plan): Pick<Extract<PoolPart, { kind: 'reason' }>, 'figures'> {
  const length = kv?.atMaxLength?.tokens;
  if (!kv || length === undefined || (kv.layout.allocator !== 'blocks' && kv.layout.allocator !== 'tokens')) {
    return {};
  }
  const { prompt, output } = workload;
  return { figures: { blockSize: kv.layout.blockSize * kv.layout.tokensPerSlot, prompt, output, maxLength: length } };
}

/** The layers that take most of the attention's time: full ones, or what the model has in their place. */
const attends = ({ kind, draft }: KvLayer): boolean =>
  !draft && (kind === 'full' || kind === 'sliding' || kind === 'chunked');

export function benchShape(plan: Plan, remote: string): BenchShape {
  const { model, layers = [], kv, placement, workload, capacity } = plan;
  const own = layers.filter(attends);
  const layer = own.find(({ kind }) => kind === 'full') ?? own[0];
  if (!model || !kv || !placement) {
    return { kind: 'reason', text: 'The launch could not be planned, so its shapes are not known.', remote };
  }
  if (!layer) {
    return {
      kind: 'reason',
      text: 'The benchmark attends over keys and values by head, which this model does not keep.',
      remote,
    };
  }
  const tensor = Math.max(1, placement.tensor / placement.attentionData);
  const kvHeads = Math.max(1, Math.ceil(layer.kvHeads / tensor));
  return {
    kind: 'shape',
    model: clean(model.id),
    queryHeads: Math.max(kvHeads, Math.ceil(model.attentionHeads / tensor)),
    kvHeads,
    headDim: layer.headDim,
    kvDtype: kv.layout.dtype.value,
    blockSize: kv.layout.blockSize,
    prompt: workload.prompt,
    output: workload.output,
    requests: capacity?.fits.value ?? 1,
    notes: notesOf(layers, layer),
    remote,
  };
}

function notesOf(layers: readonly KvLayer[], shown: KvLayer): string[] {
  const others = [
    ...new Set(layers.filter((l) => !l.draft && l.kind !== shown.kind && l.kind !== 'none').map((l) => l.kind)),
  ];
  return [
    ...(others.length > 0 ? [`Layers of other kinds (${others.join(', ')}) are left out.`] : []),
    ...(shown.valueDim !== shown.headDim
      ? [`Values have ${shown.valueDim} elements; they are run with ${shown.headDim}.`]
      : []),
  ];
}
