/** What an option is, whatever the plan: from its row of the engine's table. */
import type { OptionSpec } from '../core/engines/option';
import { defaultsText, takesText, versionsText } from '../core/engines/option-text';
import type { Plan } from '../planner';
import { code, escaped } from './markdown';

/** For a hover: one paragraph of small print. */
export function aboutOption(plan: Plan, spec: OptionSpec): string {
  const version = `${plan.engine.title} ${plan.engine.version.text}`;
  return `${code(flagOf(spec))} ${escaped(`${spec.summary} (${version}: ${factsOf(spec).join('; ')})`)}`;
}

/** For completion, where nothing else is said: what it is, what it does to the KV cache, and what it takes. */
export const optionText = (plan: Plan, spec: OptionSpec): string =>
  [
    escaped(spec.summary),
    ...(spec.effect === undefined ? [] : [`**KV cache:** ${escaped(spec.effect)}`]),
    escaped(`${plan.engine.title} ${plan.engine.version.text}: ${factsOf(spec).join('; ')}`),
  ].join('\n\n');

/** Keys of a file's section and variables are no flags. */
const flagOf = ({ name }: OptionSpec): string =>
  name.includes('.') || name === name.toUpperCase() ? name : `--${name}`;

const factsOf = (spec: OptionSpec): readonly string[] =>
  [`takes ${takesText(spec)}`, `default ${defaultsText(spec)}`, versionsText(spec), `read from ${spec.source}`].filter(
    Boolean,
  );
