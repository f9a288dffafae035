/** A launch as it would be read if it said something else. */
import type { OptionSpec, OptionValue } from '../core/engines/option';
import { type Launch, type LaunchOption, optionOf } from '../launch/launch';

export interface Value {
  readonly spec: OptionSpec;
  readonly value: OptionValue;
}

/** With options written as `text`: an option that stands somewhere keeps its place, another stands at the launch's head. */
export function launchWith(launch: Launch, values: readonly Value[], text: string): Launch {
  const names = new Set(values.map(({ spec }) => spec.name));
  const made = values.map(({ spec, value }): LaunchOption => {
    const { range, nameRange, valueRange, line } = optionOf(launch, spec.name) ?? {
      range: launch.head,
      nameRange: launch.head,
    };
    return { name: spec.name, spec, value, raw: text, origin: 'file', range, nameRange, valueRange, line };
  });
  return { ...launch, options: [...launch.options.filter((o) => !names.has(o.name)), ...made] };
}
