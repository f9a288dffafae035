// Facts about GPUs -> rows: names and the memory that CUDA or HIP reports as total.
import { sourceTable } from './sources.mjs';

const MIB_PER_GIB = 1024;

/** Where logs differ, the total seen most, in MiB. Otherwise the middle of the range is shown. */
const USUAL = {
  // 81,090 MiB: what vLLM prints as 79.19 GiB (issues 16570, 18835); 79.10 and 79.11 GiB come from older drivers.
  'H100 80GB SXM': 81090,
  // 79.15 GiB with recent drivers, 79.25 GiB with older ones.
  'A100 80GB SXM': 79.15 * MIB_PER_GIB,
  // The usual total on Linux; less with a display in use.
  'RTX 3090': 23.69 * MIB_PER_GIB,
};

/** nvidia-smi counts memory the driver keeps for itself. Seen between both figures: 251 to 769 MiB (T4, A100). */
const BELOW_SMI = { low: 770, usual: 450, high: 250 };

const list = (v) => (v === null || v === undefined ? [] : [v].flat());

export function gpuRows(gpus) {
  const table = sourceTable();
  const left = [];
  const rows = [];
  for (const g of gpus) {
    const memory = g.confidence === 'recall' ? undefined : memoryOf(g);
    if (!memory) {
      left.push(g.name);
      continue;
    }
    rows.push(gpuRow(g, memory, table));
  }
  return { rows, left, sources: table.list };
}

function gpuRow(g, memory, table) {
  const recalled = (f) => g.recall_fields.includes(f) || g.recall_fields.includes('all but architecture');
  const cloud = Object.values(g.cloud_instances).flat();
  const names = [
    ...g.aliases,
    ...g.nvidia_smi_names,
    ...g.gpu_product_labels,
    ...cloud.filter((n) => !n.includes('.')),
  ];
  const row = {
    name: g.name,
    a: [...new Set(names)].filter((n) => n !== g.name),
    v: g.vendor,
    m: memory.mib.map((x) => Math.round(x)),
    how: memory.how,
    r: reportedOf(g),
    b: recalled('memory_bandwidth_gbs') ? undefined : (g.memory_bandwidth_gbs ?? undefined),
    t: operationsOf(g, recalled),
    c: g.architecture ?? undefined,
    cc: g.compute_capability ?? undefined,
    u: g.unified_memory ? 1 : undefined,
    s: g.sources.map(table.add).filter((i) => i >= 0),
  };
  return Object.fromEntries(Object.entries(row).filter(([, v]) => v !== undefined));
}

/** Dense 16-bit operations, in 10^12 a second: bfloat16, or float16 on cards without it. */
function operationsOf(g, recalled) {
  const key = g.tflops_bf16_dense ? 'tflops_bf16_dense' : 'tflops_fp16_dense';
  return recalled(key) ? undefined : (g[key] ?? undefined);
}

/** What nvidia-smi or rocm-smi prints as total, in MiB; the most where it differs from machine to machine. */
function reportedOf(g) {
  const recalled = ['memory_mib_reported', 'memory', 'memory readings'].some((f) => g.recall_fields.includes(f));
  const mib = recalled ? [] : list(g.memory_mib_reported);
  return mib.length > 0 ? Math.max(...mib) : undefined;
}

/** `[low, usual, high]` in MiB and how it is known: `t` CUDA or HIP total, `s` estimated from nvidia-smi, `n` from the size on the box. */
function memoryOf(g) {
  const recalled = (f) => g.recall_fields.some((r) => r === f || r === 'memory' || r === 'memory readings');
  const mib = recalled('memory_mib_cuda_total') ? [] : list(g.memory_mib_cuda_total);
  const gib = recalled('memory_gib_cuda_total') ? [] : list(g.memory_gib_cuda_total);
  const totals = [...mib, ...gib.map((x) => x * MIB_PER_GIB)];
  if (totals.length > 0) {
    const [low, high] = [Math.min(...totals), Math.max(...totals)];
    return { mib: [low, USUAL[g.name] ?? (low + high) / 2, high], how: 't' };
  }
  const reported = recalled('memory_mib_reported') ? [] : list(g.memory_mib_reported);
  if (reported.length > 0) {
    const below = g.vendor === 'nvidia' && !g.unified_memory ? BELOW_SMI : { low: 0, usual: 0, high: 0 };
    const [low, high] = [Math.min(...reported) - below.low, Math.max(...reported) - below.high];
    return { mib: [low, (Math.min(...reported) + Math.max(...reported)) / 2 - below.usual, high], how: 's' };
  }
  // Unified memory comes in several sizes and is shared with the processor: the size on the box says little.
  const boxed = list(g.memory_gb_marketed);
  if (boxed.length !== 1 || g.unified_memory || g.recall_fields.includes('memory')) {
    return undefined;
  }
  const perDevice = (boxed[0] * MIB_PER_GIB) / g.devices_per_board;
  // HIP reports all but 16 MiB (MI210, MI300X); CUDA and Level Zero keep more back.
  const usual = g.vendor === 'amd' ? perDevice - 16 : perDevice * 0.98;
  return { mib: [perDevice * 0.95, usual, perDevice], how: 'n' };
}

/** `[GPU row, count, instances…]`. Sizes that give a fraction of a GPU, or a GPU that is not known, are left out. */
export function instanceRows(instances, gpus) {
  const index = new Map(gpus.map((g, i) => [g.name, i]));
  const groups = new Map();
  for (const i of instances) {
    const gpu = index.get(i.gpu);
    if (gpu === undefined || !i.count || i.gpu_fraction || i.confidence === 'recall') {
      continue;
    }
    const key = `${gpu}/${i.count}`;
    const group = groups.get(key) ?? [gpu, i.count];
    group.push(i.instance);
    groups.set(key, group);
  }
  return [...groups.values()];
}
