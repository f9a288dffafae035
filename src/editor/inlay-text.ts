/** What stands after a value: the one number that it comes to. */
import type { OptionRole } from '../core/engines/option';
import { formatBytes, GiB } from '../core/units';
import type { LaunchOption } from '../launch/launch';
import type { Plan } from '../planner';
import { shortAmount } from '../report/amounts';

export interface Hint {
  /** Behind the value, and the quote that closes it. */
  readonly offset: number;
  readonly text: string;
  readonly option: LaunchOption;
}

/** One for each option that counts and stands in this text. */
export function hintsOf(plan: Plan, text: string): readonly Hint[] {
  const last = new Map(plan.launch.options.map((o) => [o.name, o]));
  return [...last.values()].flatMap((option) => {
    const words = option.spec?.role && TEXTS[option.spec.role]?.(plan);
    const end = option.valueRange?.end;
    const isHere = option.from === undefined && option.value !== undefined && option.origin !== 'default';
    return words && end !== undefined && isHere ? [{ offset: afterQuote(text, end), text: words, option }] : [];
  });
}

const afterQuote = (text: string, end: number): number => (/["']/.test(text[end] ?? '') ? end + 1 : end);

/** Always GiB, so that lengths can be compared: `0.313 GiB`, `16.0 GiB`. */
export const inGiB = (bytes: number): string =>
  bytes < 100 * GiB ? `${(bytes / GiB).toPrecision(3)} GiB` : formatBytes(bytes);

type HintText = (plan: Plan) => string | undefined;

const TEXTS: { readonly [role in OptionRole]?: HintText } = {
  model: ({ budget }) => budget && `${shortAmount(budget.weights.figure)} of weights per GPU`,
  'max-length': ({ kv }) => kv?.atMaxLength && `${inGiB(kv.atMaxLength.reserved.value)}/request`,
  'memory-share': ({ budget }) => budget && `${shortAmount(budget.kv.figure)} for KV`,
  'kv-memory': ({ kv }) => kv?.pool && `${shortAmount(kv.pool.blocks)} blocks`,
  'kv-dtype': ({ kv }) => kv && `${shortAmount(kv.layout.bytesPerTokenTotal)}/token in all`,
  tensor: ({ kv }) => kv && `${shortAmount(kv.layout.bytesPerToken)}/token per GPU`,
  'block-size': ({ kv }) => kv && `${shortAmount(kv.layout.bytesPerBlock)}/block`,
  'max-sequences': ({ capacity }) => capacity && `memory holds ${shortAmount(capacity.paged.requests)}`,
};
