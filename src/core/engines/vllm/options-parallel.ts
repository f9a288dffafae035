/** Options that spread the model over GPUs, and LoRA and speculative decoding. */
import type { OptionSpec } from '../option';
import { OR_NONE, plainRows, rowsOf, sourceOf } from './option-rows';

const PARALLEL: readonly OptionSpec[] = rowsOf(sourceOf('config/parallel.py'), [
  {
    name: 'tensor-parallel-size',
    role: 'tensor',
    short: ['-tp'],
    type: 'int',
    unit: 'GPUs',
    min: 1,
    defaults: [{ value: 1 }],
    summary: 'GPUs that share every layer.',
    effect: 'Splits KV heads and weights; with fewer KV heads than GPUs, or latent attention, each GPU keeps a copy.',
  },
  {
    name: 'pipeline-parallel-size',
    role: 'pipeline',
    short: ['-pp'],
    type: 'int',
    unit: 'GPUs',
    min: 1,
    defaults: [{ value: 1 }],
    summary: 'Stages that the layers are divided into.',
    effect: 'Each GPU keeps the KV cache of its stage’s layers; the stage with the fewest blocks decides.',
  },
  {
    name: 'data-parallel-size',
    role: 'data',
    short: ['-dp'],
    type: 'int',
    min: 1,
    defaults: [{ value: 1 }],
    summary: 'Replicas of the model behind one address.',
    effect: 'Each replica has its own pool and its own limit on requests.',
  },
  {
    name: 'decode-context-parallel-size',
    short: ['-dcp'],
    type: 'int',
    min: 1,
    defaults: [{ value: 1 }],
    since: '0.10.2',
    summary: 'GPUs of the tensor-parallel group that share the tokens of one request; divides tensor-parallel-size.',
    effect: 'Each GPU keeps that share of the tokens in place of a copy of them all.',
  },
  {
    name: 'prefill-context-parallel-size',
    short: ['-pcp'],
    type: 'int',
    unit: 'GPUs',
    min: 1,
    defaults: [{ value: 1 }],
    summary: 'Further GPUs that share the tokens of a prompt.',
    effect: 'Each GPU keeps its share of the tokens.',
  },
  {
    name: 'cp-kv-cache-interleave-size',
    aliases: ['dcp-kv-cache-interleave-size'],
    type: 'int',
    unit: 'tokens',
    min: 1,
    defaults: [{ value: 1 }],
    summary: 'Consecutive tokens that one GPU of a context-parallel group keeps; divides the block size.',
    effect: 'Which GPU keeps which token; the bytes stay.',
  },
  {
    name: 'enable-expert-parallel',
    short: ['-ep'],
    type: 'flag',
    since: '0.8',
    summary: 'Spreads whole experts over the GPUs, not slices of each.',
    effect: 'Changes the weights per GPU; the KV cache stays.',
  },
  {
    name: 'enable-dbo',
    type: 'flag',
    summary: 'Overlaps communication and computation of two half batches.',
  },
]);

const PLAIN_PARALLEL = plainRows(sourceOf('config/parallel.py'), [
  ['distributed-executor-backend', 'string', 'What starts and connects the workers: mp, ray, uni, external_launcher.'],
  ['nnodes', 'int', 'Machines that one replica spans.', { short: ['-n'], min: 1, defaults: [{ value: 1 }] }],
  ['node-rank', 'int', 'Number of this machine among them.', { short: ['-r'], min: 0, defaults: [{ value: 0 }] }],
  ['master-addr', 'string', 'Address of the first machine.'],
  ['master-port', 'int', 'Port of the first machine.'],
  ['distributed-timeout-seconds', 'int', 'Patience of collective operations.'],
  ['cpu-distributed-timeout-seconds', 'int', 'Patience of collective operations on the CPU.'],
  ['data-parallel-rank', 'int', 'Number of this replica, behind an outside load balancer.', { short: ['-dpn'] }],
  ['data-parallel-start-rank', 'int', 'Number of the first replica on this machine.', { short: ['-dpr'] }],
  ['data-parallel-size-local', 'int', 'Replicas on this machine.', { short: ['-dpl'] }],
  ['data-parallel-address', 'string', 'Address of the machine that leads the replicas.', { short: ['-dpa'] }],
  ['data-parallel-rpc-port', 'int', 'Port between replicas.', { short: ['-dpp'] }],
  ['data-parallel-backend', 'string', 'What starts the replicas.', { short: ['-dpb'], defaults: [{ value: 'mp' }] }],
  ['data-parallel-hybrid-lb', 'flag', 'Balances load on each machine, and outside between them.', { short: ['-dph'] }],
  ['data-parallel-external-lb', 'flag', 'Leaves load balancing to something outside.', { short: ['-dpe'] }],
  ['data-parallel-multi-port-external-lb', 'flag', 'One server and port per local replica.', { short: ['-dpm'] }],
  ['enable-eplb', 'flag', 'Moves experts between GPUs as load changes.'],
  ['eplb-config', 'json', 'Settings of the expert load balancer.'],
  ['num-redundant-experts', 'int', 'Copies of busy experts, in old versions.'],
  ['expert-placement-strategy', 'string', 'How experts are dealt to GPUs.'],
  ['enable-elastic-ep', 'flag', 'Lets the number of replicas change while running.'],
  ['enable-ep-weight-filter', 'flag', 'Loads only the experts of this rank.'],
  ['all2all-backend', 'string', 'Kernels that exchange tokens between experts.'],
  ['ubatch-size', 'int', 'Micro-batches that overlap.'],
  ['dbo-decode-token-threshold', 'int', 'Decode tokens from which batches are split.'],
  ['dbo-prefill-token-threshold', 'int', 'Prefill tokens from which batches are split.'],
  ['dp-sync-interval', 'int', 'Steps between synchronisations of the replicas.'],
  ['dcp-comm-backend', 'string', 'How a context-parallel group communicates.'],
  ['dcp-q-replicate', 'flag', 'Copies queries over a context-parallel group.'],
  ['disable-nccl-for-dp-synchronization', 'flag', 'Synchronises replicas over the CPU.'],
  ['disable-custom-all-reduce', 'flag', 'Uses NCCL for every all-reduce.'],
  ['enable-batch-sharded-sampling', 'flag', 'Splits sampling over the tensor-parallel group.'],
  ['max-parallel-loading-workers', 'int', 'Workers that load weights at once.'],
  ['ray-workers-use-nsight', 'flag', 'Profiles Ray workers.'],
  ['worker-cls', 'string', 'Class that replaces the worker.', { defaults: [{ value: 'auto' }] }],
  ['worker-extension-cls', 'string', 'Class that is mixed into the worker.'],
  ['device-ids', 'string', 'GPUs to use, by number or UUID, with commas between.'],
  ['numa-bind', 'flag', 'Binds workers to the NUMA node of their GPU.'],
  ['numa-bind-nodes', 'list', 'NUMA node of each worker.'],
  ['numa-bind-cpus', 'list', 'CPUs of each worker.'],
  ['enable-fault-tolerance', 'flag', 'Recovers from the loss of a replica.'],
  ['fault-tolerance-config', 'json', 'Settings of that recovery.'],
]);

const LORA_BUFFERS = 'Adapter buffers count as weights, so the pool shrinks.';

const LORA: readonly OptionSpec[] = rowsOf(sourceOf('config/lora.py'), [
  { name: 'enable-lora', type: 'flag', summary: 'Serves LoRA adapters.', effect: LORA_BUFFERS },
  {
    name: 'max-loras',
    type: 'int',
    min: 1,
    defaults: [{ value: 1 }],
    summary: 'Adapters that one batch may mix.',
    effect: LORA_BUFFERS,
  },
  {
    name: 'max-lora-rank',
    type: 'int',
    min: 1,
    defaults: [{ value: 16 }],
    summary: 'Highest rank of an adapter.',
    effect: LORA_BUFFERS,
  },
  { name: 'max-cpu-loras', type: 'int', words: OR_NONE, summary: 'Adapters kept in host memory.' },
]);

const PLAIN_LORA = plainRows(sourceOf('config/lora.py'), [
  ['lora-dtype', 'string', 'Number format of adapters.', { defaults: [{ value: 'auto' }] }],
  ['fully-sharded-loras', 'flag', 'Splits every adapter matrix over the tensor-parallel group.'],
  ['lora-target-modules', 'list', 'Modules that adapters may change.'],
  ['default-mm-loras', 'json', 'Adapter to use for each kind of media.'],
  ['enable-tower-connector-lora', 'flag', 'Lets adapters change the encoder.'],
  ['specialize-active-lora', 'flag', 'Captures graphs for each number of active adapters.'],
  ['enable-mixed-moe-lora-format', 'flag', 'Accepts two formats of adapters for experts.'],
  ['enable-moe-shared-loras', 'flag', 'Shares one adapter between experts.'],
  ['lora-extra-vocab-size', 'int', 'Vocabulary that adapters may add, in old versions.'],
  ['enable-lora-bias', 'flag', 'Accepts adapters with a bias, in old versions.'],
  ['long-lora-scaling-factors', 'string', 'Scaling factors of long-context adapters, in old versions.'],
  ['enable-prompt-adapter', 'flag', 'Serves prompt adapters, in old versions.', { until: '0.11' }],
  ['max-prompt-adapters', 'int', 'Prompt adapters of one batch, in old versions.', { until: '0.11' }],
  ['max-prompt-adapter-token', 'int', 'Tokens of a prompt adapter, in old versions.', { until: '0.11' }],
]);

const SPECULATIVE: readonly OptionSpec[] = rowsOf(sourceOf('config/speculative.py'), [
  {
    name: 'speculative-config',
    short: ['-sc'],
    type: 'json',
    summary: 'Speculative decoding: method, draft model and number of guessed tokens.',
    effect: 'Layers of a draft or MTP head join the KV cache, and each running request holds a slot per guessed token.',
  },
  {
    name: 'spec-method',
    type: 'string',
    summary: 'The method of speculative-config.',
    effect: 'As in speculative-config.',
  },
  {
    name: 'spec-model',
    type: 'string',
    summary: 'The draft model of speculative-config.',
    effect: 'Its layers join the KV cache.',
  },
  {
    name: 'spec-tokens',
    type: 'int',
    unit: 'tokens',
    min: 1,
    summary: 'The number of guessed tokens of speculative-config.',
    effect: 'Each running request holds a slot per guessed token.',
  },
]);

const V0_DRAFT = { until: '0.9', effect: 'As the field of speculative-config that replaced it.' } as const;

const OLD_SPECULATIVE = plainRows(sourceOf('engine/arg_utils.py', '0.6.6'), [
  ['speculative-model', 'string', 'Draft model.', V0_DRAFT],
  ['num-speculative-tokens', 'int', 'Guessed tokens.', V0_DRAFT],
  [
    'speculative-draft-tensor-parallel-size',
    'int',
    'GPUs that share the draft model.',
    { ...V0_DRAFT, short: ['-spec-draft-tp'] },
  ],
  ['speculative-max-model-len', 'int', 'Longest request that is speculated on.', { until: '0.9' }],
  ['speculative-model-quantization', 'string', 'Quantisation of the draft model.', { until: '0.9' }],
  ['speculative-disable-by-batch-size', 'int', 'Queue length above which nothing is guessed.', { until: '0.9' }],
  ['speculative-disable-mqa-scorer', 'flag', 'Scores guesses without the fast kernel.', { until: '0.9' }],
  ['ngram-prompt-lookup-max', 'int', 'Longest n-gram that is looked up.', { until: '0.9' }],
  ['ngram-prompt-lookup-min', 'int', 'Shortest n-gram that is looked up.', { until: '0.9' }],
]);

export const PARALLEL_OPTIONS: readonly OptionSpec[] = [...PARALLEL, ...PLAIN_PARALLEL];
export const LORA_OPTIONS: readonly OptionSpec[] = [...LORA, ...PLAIN_LORA];
export const SPECULATIVE_OPTIONS: readonly OptionSpec[] = [...SPECULATIVE, ...OLD_SPECULATIVE];
