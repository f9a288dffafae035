/** What SLURM is asked for: `--gres=gpu:h100:8`, `--gpus=8`, `--gpus-per-node h100:4`. */
import type { HardwareHint } from '../launch';
import { type Mapped, rangeOf, unresolvedIn } from '../text/mapped';

const FLAG = /^(?:--(?:gres|gpus|gpus-per-node|gpus-per-task)|-G)(?:=|$)/;

/** Of the words of `srun` or `sbatch`; a value may be a word of its own. */
export function slurmHint(words: readonly Mapped[]): HardwareHint {
  for (const [i, word] of words.entries()) {
    const flag = FLAG.exec(word.text)?.[0];
    const value = flag === undefined ? undefined : flag.endsWith('=') ? word : words[i + 1];
    const hint = value && gpusOf(value, value === word && flag ? flag.length : 0);
    if (hint?.count) {
      return hint;
    }
  }
  return {};
}

/** Lines of `#SBATCH`, wherever a script has them. */
export function batchHint(script: Mapped): HardwareHint {
  const line = /^#SBATCH[ \t]+(?:--(?:gres|gpus|gpus-per-node|gpus-per-task)[= ]|-G[ \t]*)(\S+)/m.exec(script.text);
  return line
    ? gpusOf(script, line.index + line[0].length - (line[1] as string).length, line.index + line[0].length)
    : {};
}

function gpusOf(m: Mapped, from: number, to = m.text.length): HardwareHint {
  const found = /^(?:gpu:)?(?:([A-Za-z][\w.-]*):)?(\d+)$/.exec(m.text.slice(from, to).replace(/\(.*$/, ''));
  if (!found || unresolvedIn(m, from, to) !== undefined) {
    return {};
  }
  const [whole, name, count = ''] = found;
  const at = from + whole.length - count.length;
  const gpu = name === undefined ? {} : { gpu: { text: name, range: rangeOf(m, at - 1 - name.length, at - 1) } };
  return { ...gpu, count: { value: Number(count), range: rangeOf(m, at, at + count.length) } };
}
