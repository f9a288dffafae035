/** `npm run truth`: replays engines' own numbers and public logs through the planner, a table per file; fails when a case that can be exact is not. */
import { replayHybrids } from './hybrids';
import { replayLogs } from './logs';
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
process.exitCode = off > 0 ? 1 : 0;
