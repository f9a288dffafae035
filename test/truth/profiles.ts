/** Budgets term by term against profile runs that were measured over many models on one kind of card. */
import { findModel } from '../../src/core/model/catalogue';
import { type BudgetResult, compareBudget } from './budget-case';
import { readTruth } from './vectors';

interface Profile {
  readonly model: string;
  readonly tp: number;
  readonly pp: number;
  readonly version: string;
  readonly utilisation: number;
  readonly maxModelLen: number;
  readonly weights?: number;
  readonly activation: number;
  readonly nonTorch: number;
  readonly kv?: number;
  readonly source: string;
}

export const replayProfiles = (): readonly BudgetResult[] =>
  readTruth<{ readonly rows: readonly Profile[] }>('activations.json').rows.map((row) => {
    const id = `${row.model.split('/')[1]} ${row.version}${row.tp > 1 ? ` tp${row.tp}` : ''}${row.pp > 1 ? ` pp${row.pp}` : ''}`;
    if (!findModel(row.model)) {
      return { id, excluded: `model not known: ${row.model}` };
    }
    return compareBudget({
      id,
      args: [
        `--model=${row.model}`,
        `--tensor-parallel-size=${row.tp}`,
        `--pipeline-parallel-size=${row.pp}`,
        `--max-model-len=${row.maxModelLen}`,
        `--gpu-memory-utilization=${row.utilisation}`,
      ],
      flags: { gpu: 'H100 80GB SXM', 'gpu-memory': '79.19GiB', engine: `vllm@${row.version}` },
      measured: {
        weights: row.weights,
        // With pipeline stages the log is the first one's, and a plan shows the stage that decides.
        activations: row.pp > 1 ? undefined : row.activation,
        other: row.nonTorch,
        kv: row.kv,
      },
    });
  });
