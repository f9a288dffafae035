/** What a version of TensorRT-LLM changes in a plan. */
import { type Change, rulesAt } from '../version-rules';

export interface TrtRules {
  readonly backend: 'pytorch' | 'tensorrt';
  /** Tokens per block of engines. */
  readonly engineBlock: number;
  /** The PyTorch backend counts blocks of the tokens it has rounded up; later, down. */
  readonly blocksUp: boolean;
  /** How the pool is divided over attention windows. */
  readonly windowShares: 'weighted' | 'equal';
  /** The C++ manager prints blocks per sequence. */
  readonly logsBlocks: boolean;
}

const FIRST: TrtRules = {
  backend: 'tensorrt',
  engineBlock: 64,
  blocksUp: true,
  windowShares: 'weighted',
  logsBlocks: false,
};

/** Read from py_executor_creator.py and llm_args.py (1.3), kvCacheManager.cpp (0.20–1.0), config.pbtxt (0.5–0.19). */
const CHANGES: readonly Change<TrtRules>[] = [
  ['0.19', { engineBlock: 32 }, 'trtllm-build: 32 tokens per block (64 up to 0.17)'],
  ['0.20', { logsBlocks: true }, '“Max KV cache blocks per sequence” in the log'],
  ['1.0', { backend: 'pytorch' }, 'PyTorch is the default backend'],
  ['1.1', { windowShares: 'equal' }, 'each window’s pool gets an equal share'],
  ['1.3', { blocksUp: false }, 'blocks are counted down (up to about 1.2: up)'],
];

/** Versions whose rules were read, oldest first. */
export const TRT_VERSIONS: readonly string[] = ['0.7', '0.12', '0.17', '0.19', '0.20', '1.0', '1.1', '1.2', '1.3'];

export const trtRules = (version: string): TrtRules => rulesAt(FIRST, CHANGES, version);
