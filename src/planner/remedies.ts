/** Other ways out of a refusal for want of memory, each tried on the same road: they stand behind the shorter length. */
import type { Checked, Engine, Finding, Fix } from '../core/engines/engine';
import { availability, type OptionRole, type OptionSpec, type OptionValue } from '../core/engines/option';
import { withCommas } from '../core/units';

/** Refusals that more memory for the pool lifts. */
const FOR_WANT_OF_MEMORY = new Set(['length-does-not-fit', 'no-kv-memory']);

export function withRemedies(findings: readonly Finding[], checked: Checked, engine: Engine): readonly Finding[] {
  return findings.map((f) =>
    FOR_WANT_OF_MEMORY.has(f.code) ? { ...f, fixes: [...f.fixes, ...remedies(checked, engine)] } : f,
  );
}

/** Smallest change first: share of the card, format of the cache, more of the offered GPUs. */
function remedies(checked: Checked, engine: Engine): readonly Fix[] {
  const option = (role: OptionRole) =>
    engine.options.find((o) => o.role === role && availability(o, checked.configuration.version.text) === 'ok');
  const first = (spec: OptionSpec | undefined, values: readonly OptionValue[]): readonly Fix[] => {
    const last = values.at(-1);
    // Where the largest change does not do, none does.
    if (!spec || last === undefined || !tried(checked, spec.name, last)) {
      return [];
    }
    for (const value of values) {
      const fix = tried(checked, spec.name, value);
      if (fix) {
        return [fix];
      }
    }
    return [];
  };
  return [
    ...first(option('memory-share'), largerShares(checked, option('memory-share')?.name)),
    ...first(option('kv-dtype'), smallerDtypes(checked, option('kv-dtype'))),
    ...first(option('tensor'), moreGpus(checked)),
  ];
}

/** Undefined unless the engine then starts for sure. */
function tried(checked: Checked, option: string, value: OptionValue): Fix | undefined {
  const outcome = checked.whatIf({ [option]: value });
  if (outcome?.verdict?.starts !== true) {
    return undefined;
  }
  const longest = outcome.verdict.longestContext;
  const tokens = Math.min(longest.range?.low ?? longest.value, 2 ** 31);
  return {
    title: `Set ${option} to ${value}: then ${withCommas(tokens)} tokens fit`,
    option,
    value: String(value),
  };
}

/** Beyond this share too little is left for what the engine does not count. */
const MOST = 0.95;

function largerShares({ configuration }: Checked, name: string | undefined): readonly number[] {
  const share = configuration.settings.findLast((s) => s.name === name)?.value;
  const shares: number[] = [];
  for (let hundredths = Math.floor(Number(share) * 100) + 1; hundredths <= MOST * 100; hundredths++) {
    shares.push(hundredths / 100);
  }
  return typeof share === 'number' ? shares : [];
}

/** One byte per element, where the cache has more. */
function smallerDtypes({ layout, asked }: Checked, spec: OptionSpec | undefined): readonly string[] {
  const written = asked.settings.findLast((s) => s.name === spec?.name)?.value;
  const free = written === undefined || written === null || written === 'auto';
  return free && /16$/.test(layout.dtype.value) && spec?.values?.includes('fp8') ? ['fp8'] : [];
}

/** As many of the offered GPUs as divide the heads. */
function moreGpus({ configuration, asked: { hardware, model } }: Checked): readonly number[] {
  const { tensor, pipeline, data } = configuration.placement;
  const most = Math.floor((hardware?.count ?? 0) / (pipeline * data));
  const sizes: number[] = [];
  for (let size = tensor + 1; size <= most; size++) {
    if (model.attentionHeads % size === 0) {
      sizes.push(size);
    }
  }
  return sizes;
}
