/**
 * Real llama.cpp: writes tiny GGUF files, makes contexts with the library of the npm package node-llama-cpp, and
 * compares the sizes that it reports with the plan's. `scripts/truth-llama.mjs` puts the package where `LLAMA_HOME` says.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readGguf } from '../../src/core/model/gguf';
import { modelFromGguf } from '../../src/core/model/gguf-model';
import { MiB, toFixedHalfEven } from '../../src/core/units';
import { writeGguf } from './gguf-writer';
import { planServer } from './llama-cpp';
import { type TinyModel, tinyModels } from './tiny-models';

interface Addon {
  readonly AddonModel: new (path: string, params: object) => { init(): Promise<boolean>; dispose(): Promise<void> };
  readonly AddonContext: new (model: object, params: object) => { init(): Promise<boolean>; dispose(): Promise<void> };
}

const home = process.env.LLAMA_HOME ?? '';
const { getLlama } = await import(pathToFileURL(join(home, 'node_modules/node-llama-cpp/dist/index.js')).href);
let lines: string[] = [];
const llama = await getLlama({
  gpu: false,
  build: 'never',
  skipDownload: true,
  progressLogs: false,
  logLevel: 'debug',
  logger: (_level: string, message: string) => {
    lines.push(...message.split('\n').map((l) => l.trimEnd()));
  },
});
const addon: Addon = llama._bindings;

/** Ids of ggml types. */
const TYPES = { f16: 1, q8_0: 8, q4_0: 2 } as const;
type Type = keyof typeof TYPES;

interface Shape {
  readonly tokens: number;
  readonly slots: number;
  readonly keys: Type;
  readonly values: Type;
  readonly batch: number;
  readonly swaFull: boolean;
}

/** The binding sets the micro-batch to the batch, and never unifies slots. */
function shapesOf({ name }: TinyModel): readonly Shape[] {
  const shape = (tokens: number, slots: number, keys: Type, values = keys, batch = 512, swaFull = false): Shape => ({
    tokens,
    slots,
    keys,
    values,
    batch,
    swaFull,
  });
  const usual = [
    shape(4096, 1, 'f16'),
    shape(8192, 4, 'f16'),
    shape(4096, 1, 'q8_0'),
    shape(10000, 4, 'q8_0'),
    shape(4096, 4, 'q4_0'),
  ];
  const windows = [shape(8192, 1, 'f16', 'f16', 1024), shape(4096, 4, 'f16', 'f16', 256, true)];
  return [
    ...usual,
    ...(name === 'gemma3' || name === 'gpt-oss' ? windows : []),
    ...(name === 'llama-gqa' ? [shape(3000, 3, 'q8_0', 'q4_0'), shape(1000, 1, 'f16'), shape(256, 1, 'f16')] : []),
  ];
}

/** Lines come from another thread. */
const said = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

/** Lines that tell sizes, without what depends on the build. */
const tellsSize = (line: string): boolean =>
  /^llama_kv_cache: size|^llama_memory_recurrent: size|^llama_context: (n_seq_max|n_ctx|n_ctx_seq|n_batch|n_ubatch|kv_unified) +=/.test(
    line,
  );

/** The values of a line: what stands between them may be set apart in other widths. */
const normal = (line: string): string =>
  line
    .replace(/, P \(f32\):\s+0\.00 MiB/, '')
    .replace(/\s+/g, ' ')
    .trim();

async function reported(model: object, shape: Shape): Promise<readonly string[]> {
  lines = [];
  const context = new addon.AddonContext(model, {
    contextSize: shape.tokens,
    batchSize: shape.batch,
    sequences: shape.slots,
    flashAttention: shape.values !== 'f16' ? true : 'auto',
    threads: 1,
    kvCacheKeyType: TYPES[shape.keys],
    kvCacheValueType: TYPES[shape.values],
    swaFullCache: shape.swaFull,
  });
  const made = await context.init();
  await said();
  await context.dispose();
  if (!made) {
    throw new Error(lines.filter((l) => /error|fail/i.test(l)).join('; ') || 'the context was not made');
  }
  return lines.filter(tellsSize).map(normal);
}

function planned({ metadata }: TinyModel, shape: Shape): readonly string[] {
  const args = ['-c', shape.tokens, '-np', shape.slots, '-b', shape.batch, '-ub', shape.batch];
  const types = ['-ctk', shape.keys, '-ctv', shape.values];
  const plan = planServer([...args.map(String), ...types, ...(shape.swaFull ? ['--swa-full'] : [])], metadata);
  const { logged } = plan.kv?.pool ?? {};
  if (!logged) {
    throw new Error(`not planned: ${plan.findings.map((f) => f.message).join('; ')}`);
  }
  return logged.lines.filter(tellsSize).map(normal);
}

/** `print_info: file size   = 1.15 MiB (32.00 BPW)`: the bytes of all tensors. */
const weightsReported = (): string => /file size +=\s+([\d.]+ MiB)/.exec(lines.join('\n'))?.[1] ?? 'not said';

function weightsPlanned(path: string): string {
  const header = readGguf(readFileSync(path));
  if ('needs' in header) {
    return 'cut off';
  }
  const { weights } = modelFromGguf({ headers: [header], path }, path);
  return `${toFixedHalfEven((weights?.bytes ?? 0) / MiB, 2)} MiB`;
}

const folder = mkdtempSync(join(tmpdir(), 'tiny-gguf-'));
let exact = 0;
let off = 0;
let unloaded = 0;
try {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return (seed / 2 ** 31 - 0.5) / 10;
  };
  for (const tiny of tinyModels()) {
    const path = join(folder, `${tiny.name}.gguf`);
    writeFileSync(path, writeGguf(tiny.metadata, tiny.tensors, random));
    lines = [];
    const model = new addon.AddonModel(path, { gpuLayers: 0, useMmap: true, addonExports: addon });
    const loaded = await model.init().catch(() => false);
    await said();
    if (!loaded) {
      unloaded++;
      console.log(
        `  not loaded      ${tiny.name}: ${lines
          .filter((l) => /error|fail|missing/i.test(l))
          .slice(0, 3)
          .join('; ')}`,
      );
      continue;
    }
    const sizes = [weightsReported(), weightsPlanned(path)];
    sizes[0] === sizes[1] ? exact++ : off++;
    console.log(
      `  ${sizes[0] === sizes[1] ? 'exact' : 'off  '}           ${tiny.name} weights: ${sizes.join(' and ')}`,
    );
    for (const shape of shapesOf(tiny)) {
      const name = `${tiny.name} -c ${shape.tokens} -np ${shape.slots} ${shape.keys}/${shape.values} -ub ${shape.batch}${shape.swaFull ? ' --swa-full' : ''}`;
      try {
        const [real, plan] = [await reported(model, shape), planned(tiny, shape)];
        const same = JSON.stringify(real) === JSON.stringify(plan);
        same ? exact++ : off++;
        const told = real.filter((l) => l.includes('size =')).map((l) => /size = ([\d.]+ MiB)/.exec(l)?.[1]);
        console.log(`  ${same ? 'exact' : 'off  '}           ${name}: ${told.join(' + ')} (${tiny.kind})`);
        if (!same) {
          console.log(`      llama.cpp: ${real.join(' | ')}\n      planned:   ${plan.join(' | ')}`);
        }
      } catch (error) {
        unloaded++;
        console.log(`  not made        ${name}: ${(error as Error).message}`);
      }
    }
    await model.dispose();
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(
  `llama.cpp itself: ${exact + off} sizes of contexts and weights; exact ${exact}, off ${off}; ${unloaded} not made`,
);
process.exit(off > 0 || exact < 30 ? 1 : 0);
