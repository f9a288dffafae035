import type { Run } from './content';
import { type Traffic, trafficBuilder } from './traffic';
import type { WorldOptions } from './worlds';

/** The figures a scene speaks of, from the reader's own launch. */
export interface SceneFigures {
  readonly blockSize: number;
  readonly prompt: number;
  readonly output: number;
  readonly maxLength: number;
}

export type SceneId =
  | 'mapping'
  | 'growth'
  | 'tail'
  | 'fragmentation'
  | 'shared-prefix'
  | 'copy-on-write'
  | 'exhaustion'
  | 'block-size';

/** A canned run: what to watch, in one sentence, and the worlds to watch it in (drawn side by side). */
export interface Scene {
  readonly id: SceneId;
  readonly title: string;
  readonly sentence: string;
  readonly traffic: Traffic;
  readonly worlds: readonly { readonly title: string; readonly options: WorldOptions }[];
  /** The request whose table is shown. */
  readonly focus: number;
  /** The step at which the point is made. */
  readonly step: number;
}

/** Scenes are drawn with few blocks, so that each can be seen; the sentences keep the launch's own figures. */
const SHOWN_BLOCKS = 41;
const SHOWN_SIZE = 4;

const own = (source: number, count: number): Run => ({ source, first: 0, count });

const paged = (more: Partial<Extract<WorldOptions, { engine: 'vllm-v1' }>> = {}): WorldOptions => ({
  engine: 'vllm-v1',
  blocks: SHOWN_BLOCKS,
  groups: [{ kind: 'full', blockSize: SHOWN_SIZE }],
  batchTokens: 64,
  maxSequences: 16,
  maxLength: 160,
  ...more,
});

const beside = (fit: 'slots' | 'first-fit'): WorldOptions => ({
  engine: 'contiguous',
  tokens: (SHOWN_BLOCKS - 1) * SHOWN_SIZE,
  maxLength: 40,
  fit,
  batching: 'continuous',
  maxSequences: 16,
  batchTokens: 64,
});

const shared = (blocks: number, hostBlocks: number): WorldOptions => ({
  engine: 'vllm-v0',
  blocks,
  blockSize: SHOWN_SIZE,
  hostBlocks,
  batchTokens: 64,
  maxSequences: 16,
  maxLength: 160,
});

type Spec = {
  readonly at?: number;
  readonly prompt: readonly Run[];
  readonly output: number;
  readonly limit?: number;
  readonly samples?: number;
};

function trafficOf(id: SceneId, specs: readonly Spec[]): Traffic {
  const builder = trafficBuilder(id);
  for (const { at = 0, ...spec } of specs) {
    builder.add({ arrival: at, ...spec });
  }
  return builder.build();
}

/** Eight short scenes, in the order of the tour. Times count steps: play them with a clock of one second a step. */
export function scenesOf({ blockSize, prompt, output, maxLength }: SceneFigures): readonly Scene[] {
  const tokens = prompt + output;
  const blocks = Math.ceil(tokens / blockSize);
  const tail = blocks * blockSize - tokens;
  const prefix = Math.floor(prompt / blockSize);
  return [
    {
      id: 'mapping',
      title: 'A table, not a stretch',
      sentence: `Token ${tokens - 1} of a request of ${tokens} tokens lies in its block ${Math.floor((tokens - 1) / blockSize)}, at offset ${(tokens - 1) % blockSize}; the table says where that block is, and neighbours need not touch.`,
      traffic: trafficOf('mapping', [
        { prompt: [own(10, 9)], output: 3 },
        { prompt: [own(11, 6)], output: 30 },
        { at: 4, prompt: [own(12, 22)], output: 20 },
      ]),
      worlds: [{ title: 'paged', options: paged({ caching: false }) }],
      focus: 2,
      step: 6,
    },
    {
      id: 'growth',
      title: 'One block at a time',
      sentence: `A prompt of ${prompt} tokens takes ${Math.ceil(prompt / blockSize)} blocks; its ${output} output tokens take ${blocks - Math.ceil(prompt / blockSize)} more, each only when the last is full.`,
      traffic: trafficOf('growth', [{ prompt: [own(10, 7)], output: 24 }]),
      worlds: [{ title: 'paged', options: paged() }],
      focus: 0,
      step: 12,
    },
    {
      id: 'tail',
      title: 'What the last block wastes',
      sentence: `${tokens} tokens fill ${blocks} blocks of ${blockSize} but for ${tail} tokens: never more than ${blockSize - 1} a request.`,
      traffic: trafficOf(
        'tail',
        Array.from({ length: 6 }, (_, i) => ({ prompt: [own(10 + i, 5 + 3 * i)], output: 12 })),
      ),
      worlds: [{ title: 'paged', options: paged() }],
      focus: 3,
      step: 3,
    },
    {
      id: 'fragmentation',
      title: 'One slab each',
      sentence: `A slab of ${maxLength} tokens for a request of ${tokens} leaves ${Math.max(0, Math.round(100 * (1 - tokens / maxLength)))} % of it unused, and gaps between slabs fit nobody.`,
      traffic: trafficOf(
        'fragmentation',
        Array.from({ length: 14 }, (_, i) => ({
          at: i,
          prompt: [own(10 + i, 4 + ((i * 7) % 13))],
          output: 6 + ((i * 5) % 9),
          limit: 24,
        })),
      ),
      worlds: [
        { title: 'paged', options: paged() },
        { title: 'equal slabs', options: beside('slots') },
        { title: 'fitted slabs', options: beside('first-fit') },
      ],
      focus: 4,
      step: 12,
    },
    {
      id: 'shared-prefix',
      title: 'The same beginning, once',
      sentence: `Requests that begin with the same ${prompt} tokens share ${prefix} full blocks: each further one needs only its own.`,
      traffic: trafficOf(
        'shared-prefix',
        Array.from({ length: 6 }, (_, i) => ({
          at: i === 0 ? 0 : 2 + i,
          prompt: [own(1, 20), own(10 + i, 5)],
          output: 12,
        })),
      ),
      worlds: [
        { title: 'with prefix cache', options: paged() },
        { title: 'without', options: paged({ caching: false }) },
      ],
      focus: 2,
      step: 8,
    },
    {
      id: 'copy-on-write',
      title: 'Copied when written',
      sentence: `Samples of one prompt share all its blocks; the first to write into the shared last one (${prompt % blockSize} of ${blockSize} tokens full) gets a copy of that one block.`,
      traffic: trafficOf('copy-on-write', [{ prompt: [own(10, 18)], output: 16, samples: 3 }]),
      worlds: [{ title: 'three samples', options: shared(SHOWN_BLOCKS, 0) }],
      focus: 0,
      step: 2,
    },
    {
      id: 'exhaustion',
      title: 'When the pool is full',
      sentence:
        'First cached blocks go, then the request that came last: its tokens are computed again later, or wait on the host. Its reader sees a pause, never a token taken back.',
      traffic: trafficOf('exhaustion', [
        ...Array.from({ length: 4 }, (_, i) => ({ at: i, prompt: [own(10 + i, 12)], output: 20 })),
        { at: 5, prompt: [own(20, 10)], output: 20, samples: 2 },
      ]),
      worlds: [
        { title: 'recomputed', options: paged({ blocks: 22 }) },
        { title: 'swapped', options: { ...shared(28, 24), preemption: 'swap' } as WorldOptions },
      ],
      focus: 3,
      step: 12,
    },
    {
      id: 'block-size',
      title: 'Small blocks, large blocks',
      sentence: `Blocks of ${blockSize} give a request of ${tokens} tokens ${blocks} table entries and ${tail} tokens of tail; twice the size would give ${Math.ceil(tokens / (2 * blockSize))} and ${Math.ceil(tokens / (2 * blockSize)) * 2 * blockSize - tokens}.`,
      traffic: trafficOf(
        'block-size',
        Array.from({ length: 5 }, (_, i) => ({ prompt: [own(10 + i, 6 + 5 * i)], output: 14 })),
      ),
      worlds: [2, 8].map((size) => ({
        title: `blocks of ${size}`,
        options: paged({
          blocks: ((SHOWN_BLOCKS - 1) * SHOWN_SIZE) / size + 1,
          groups: [{ kind: 'full', blockSize: size }],
        }),
      })),
      focus: 2,
      step: 6,
    },
  ];
}
