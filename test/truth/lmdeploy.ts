/** Lines of public LMDeploy logs, through the planner. */
import { GiB, MiB } from '../../src/core/units';
import type { Plan } from '../../src/planner';
import { blocksOf, modelNamed, type OtherLog, otherLogs, planOf, replayed, tokensOf, within } from './other-logs';
import { type LogResult, printedWithin } from './outcome';

const MODELS = {
  'openai/gpt-oss (same log family)': 'openai/gpt-oss-20b',
  // The shape of InternLM 7B (32 layers of 32 heads of 128) is that of Llama 2 7B.
  'internlm-chat-7b': 'meta-llama/Llama-2-7b-hf',
};

export const replayLmdeploy = (): readonly LogResult[] =>
  replayed(
    otherLogs((engine) => engine.startsWith('lmdeploy')),
    (log) => (log.id.startsWith('lmdeploy-kvint8doc') ? perSession(log) : replay(log)),
  );

function planAt(log: OtherLog, version: string, kvBytes: number, more: readonly string[]): Plan {
  return planOf({
    image: 'openmmlab/lmdeploy',
    command: ['lmdeploy', 'serve', 'api_server', modelNamed(MODELS, log), '--backend=turbomind', ...more],
    engine: `lmdeploy@${version}`,
    kvBytes,
  });
}

/** One log states KV bytes; the other the blocks alone, which up to 0.14 are a value of cache-max-entry-count. */
function replay(log: OtherLog): LogResult {
  const facts = log.config_facts;
  const options = [`--quant-policy=${facts.quant_policy ?? 0}`, '--session-len=131072'];
  const blockSize = facts.block_size_mb as number | undefined;
  const printed = [
    { what: 'blocks', logged: log.blocks, of: blocksOf },
    { what: 'tokens', logged: log.tokens, of: tokensOf },
    {
      what: 'session length',
      logged: facts.session_len_reduced_to as number | undefined,
      of: (p: Plan) => p.capacity?.maxLength ?? 0,
    },
    {
      what: 'block MB',
      logged: blockSize,
      of: (p: Plan) => (p.kv?.layout.bytesPerBlock.value ?? 0) / MiB,
      slack: 0.0005,
    },
    {
      what: 'bytes per token',
      logged: log.bytes_per_token_expected,
      of: (p: Plan) => p.kv?.layout.bytesPerToken.value ?? 0,
    },
  ];
  if (log.kv_size_gib !== undefined) {
    return within(log, (kv) => planAt(log, '0.10', kv, options), printed);
  }
  const plan = planAt(log, '0.10', GiB, [...options, `--cache-max-entry-count=${log.blocks}`]);
  const result = printedWithin(log.id, plan, plan, printed);
  return { ...result, detail: `${result.detail} (KV bytes not stated: with the log’s own block count)` };
}

/**
 * A page of memory measured from outside, by batch size: what one more session of 2048 tokens takes. It holds more than
 * keys and values, so it is printed and not counted.
 */
function perSession(log: OtherLog): LogResult {
  const [other] = otherLogs(() => true).filter((c) => c.id !== log.id && c.id.startsWith('lmdeploy-kvint8doc'));
  const sessions = Math.abs((other?.max_running ?? 0) - (log.max_running ?? 0));
  const of = (key: string) => {
    const [a, b] = [log, other].map((c) => c?.config_facts[key] as number);
    return Math.abs((b as number) - (a as number)) / sessions;
  };
  const planned = (more: readonly string[]) => {
    const plan = planAt(log, '0.2.2', 60 * GiB, ['--session-len=2048', ...more]);
    return (plan.kv?.atMaxLength?.reserved.value ?? 0) / MiB;
  };
  const rows = [
    `fp16 ${of('total_memory_mib_fp16_kv').toFixed(1)} MiB a session, planned ${planned([])}`,
    `int8 ${of('total_memory_mib_int8_kv').toFixed(1)}, planned ${planned(['--quant-policy=4'])}`,
  ];
  return {
    id: log.id,
    outcome: 'cannot tell',
    detail: `whole-process memory, between batch sizes: ${rows.join('; ')}`,
  };
}
