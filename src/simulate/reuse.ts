/** What engines whose scheduler is not simulated find of a prompt that was served before: their rule is known all the same. */
import { compareVersions } from '../core/engines/option';
import type { PairRules } from '../core/pool';
import type { Plan } from '../planner';

export interface Reuse {
  readonly rules: PairRules;
  /** The engine's rule, or why nothing is found, or why it cannot be said. */
  readonly why: string;
}

export function reuseOf(plan: Plan): Reuse {
  const { kv, engine } = plan;
  const blockSize = kv && kv.layout.allocator !== 'slots' ? kv.layout.blockSize * kv.layout.tokensPerSlot : undefined;
  if (!plan.planned || blockSize === undefined) {
    return {
      rules: { kind: 'tokens' },
      why: 'Without a plan it is not known in which blocks the engine keeps prompts.',
    };
  }
  const untold = {
    rules: { kind: 'shared', blockSize },
    why: `What ${engine.title} finds of them is not known here.`,
  } as const;
  if (plan.layers?.some(({ kind }) => kind === 'state' || kind === 'sliding' || kind === 'chunked')) {
    return { ...untold, why: `${untold.why} The model has windows or states, which are kept by rules of their own.` };
  }
  return engine.id === 'lmdeploy'
    ? lmdeployReuse(plan, blockSize)
    : engine.id === 'tgi'
      ? tgiReuse(plan, blockSize)
      : untold;
}

const optionOf = (plan: Plan, name: string): unknown => plan.options.find((option) => option.name === name)?.value;

const off = (blockSize: number, why: string): Reuse => ({ rules: { kind: 'off', blockSize }, why });

/** LMDeploy, turbomind's block trie and pytorch/paging/block_trie.py: whole blocks, by their tokens; the last partial one is not shared. */
function lmdeployReuse(plan: Plan, blockSize: number): Reuse {
  return optionOf(plan, 'enable-prefix-caching') === true
    ? {
        rules: { kind: 'blocks', blockSize },
        why: 'LMDeploy finds the whole blocks that both begin with, as long as their memory has not been given away.',
      }
    : off(blockSize, 'LMDeploy keeps prompts only with --enable-prefix-caching, which is not set.');
}

/** TGI, backends/v3/src/radix.rs: a trie of the blocks of prompts; of a prompt that is wholly there one token is still computed. */
function tgiReuse(plan: Plan, blockSize: number): Reuse {
  if (compareVersions(plan.engine.version.text, '2.3') < 0) {
    return off(blockSize, 'TGI keeps prompts from version 2.3 on.');
  }
  const told = plan.findings.find(({ code }) => code === 'reuse-off');
  const said = optionOf(plan, 'PREFIX_CACHING') ?? optionOf(plan, 'USE_PREFIX_CACHING');
  if (told || (said !== undefined && !/^(1|true)$/i.test(String(said)))) {
    return off(blockSize, told?.message ?? 'TGI keeps no prompts: PREFIX_CACHING is off.');
  }
  return {
    rules: { kind: 'blocks', blockSize },
    why: 'TGI finds what both prompts begin with, to the block, as long as its memory has not been given away.',
  };
}
