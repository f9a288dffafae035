/** `npm run truth`: replays engines' own numbers and public logs through the planner, a table per file; fails when a case that can be exact is not. */
import { type BudgetResult, summaryOf, termSummaries } from './budget-case';
import { replayBudgets } from './budgets';
import { replayHybrids } from './hybrids';
import { goldenCases, goldenDifferences } from './llama-cpp';
import { replayLlamaLogs, replayOllamaLogs } from './llama-logs';
import { replayLmdeploy } from './lmdeploy';
import { replayLogs } from './logs';
import { replayProfiles } from './profiles';
import { replayCrosschecks, replaySglangBudgets, replaySglangLogs, replaySglangVectors } from './sglang';
import { replayTensorrtLlm } from './tensorrt-llm';
import { replayTgi } from './tgi';
import { differences, vllmVectors } from './vectors';

const verbose = !process.argv.includes('--quiet');
let off = 0;

function table(
  file: string,
  rows: readonly { readonly id: string; readonly outcome: string; readonly detail: string }[],
): void {
  const count = (outcome: string) => rows.filter((r) => r.outcome === outcome).length;
  const kinds = ['exact', 'within rounding', 'off', 'not counted', 'cannot tell'];
  console.log(`\n${file}: ${rows.length} cases; ${kinds.map((k) => `${k} ${count(k)}`).join(', ')}`);
  for (const row of rows.filter((r) => verbose || r.outcome === 'off')) {
    console.log(`  ${row.outcome.padEnd(15)} ${row.id.padEnd(28)} ${row.detail}`);
  }
  off += count('off');
}

const vectors = vllmVectors().map(([id, vector]) => {
  const wrong = differences(id, vector);
  return {
    id,
    outcome: wrong.length === 0 ? 'exact' : 'off',
    detail: wrong
      .map((d) => `${d.field}: ${JSON.stringify(d.expected)} expected, ${JSON.stringify(d.actual)} planned`)
      .join('; '),
  };
});
table('golden-vllm-sglang.json, vllm/', vectors);
table('vllm-logs.json', replayLogs());
table('hybrid-logs.json', replayHybrids());
table(
  'golden-llamacpp.json',
  goldenCases().map(([id, golden]) => {
    const wrong = goldenDifferences(golden);
    const detail = wrong.map(
      (d) => `${d.field}: ${JSON.stringify(d.expected)} expected, ${JSON.stringify(d.actual)} planned`,
    );
    return { id, outcome: wrong.length === 0 ? 'exact' : 'off', detail: detail.join('; ') };
  }),
);
table('other-logs.json, llama.cpp', replayLlamaLogs());
table('other-logs.json, Ollama', replayOllamaLogs());
table('other-logs.json, TensorRT-LLM', replayTensorrtLlm());
table('other-logs.json, LMDeploy', replayLmdeploy());
table('other-logs.json, TGI', replayTgi());
table('golden-vllm-sglang.json, sgl/', replaySglangVectors());
table('other-logs.json, SGLang', replaySglangLogs());
table('other-logs.json, SGLang, KV bytes a priori', replaySglangBudgets());
table('kv-crosschecks.json, SGLang', replayCrosschecks());

const gib = (x: number): string => x.toFixed(2);
const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;

/** At most 2 logs outside the interval, median error 3 % and median interval 8 % of the card's memory. */
function budgets(file: string, results: readonly BudgetResult[]): void {
  const s = summaryOf(results);
  const excluded = results.filter((r) => r.excluded !== undefined);
  console.log(`\n${file}: KV bytes a priori: ${s.cases} cases, ${excluded.length} excluded`);
  console.log(
    `  outside the interval ${s.outside.length} (${s.outside.join(', ') || 'none'}); median error ${percent(s.medianError)}, median interval ${percent(s.medianInterval)} of the card's memory`,
  );
  for (const t of termSummaries(results)) {
    console.log(
      `  ${t.term.padEnd(11)} measured in ${t.cases}: median error ${gib(t.medianError)} GiB; outside: ${t.outside.join(', ') || 'none'}`,
    );
  }
  for (const { id, kv, launch, excluded: why } of verbose ? results : []) {
    const said =
      kv &&
      `${kv.inside ? 'inside ' : 'OUTSIDE'}  ${gib(kv.measured)} in ${gib(kv.low)}…${gib(kv.value)}…${gib(kv.high)} GiB`;
    console.log(`    ${id.padEnd(30)} ${why ? `excluded: ${why}` : `${said ?? 'terms only'}  ${launch}`}`);
  }
  off += s.outside.length > 2 || s.medianError > 0.03 || s.medianInterval > 0.08 ? 1 : 0;
}

budgets('vllm-logs.json', replayBudgets());
budgets('activations.json', replayProfiles());
process.exitCode = off > 0 ? 1 : 0;
