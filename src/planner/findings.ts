/** Findings that hold for every engine, and the place of each finding in the text. */
import type { Engine, Finding, Fix, Hardware, Placement } from '../core/engines/engine';
import { availability } from '../core/engines/option';
import { nearest } from '../core/nearest';
import type { Launch, LaunchOption, TextRange } from '../launch/launch';
import { optionOf } from '../launch/launch';
import type { Lines } from '../launch/lines';
import type { PlacedFinding } from '../planner';

/** A finding with a place of its own; without one it stands at its option. */
export interface Located {
  readonly finding: Finding;
  readonly range?: TextRange;
}

export function placeFindings(launch: Launch, found: readonly Located[], lines: Lines): readonly PlacedFinding[] {
  return found.map(({ finding, range }) => {
    const place = range ?? placeOf(launch, finding.option);
    return { ...finding, range: place, line: lines.line(place.start) };
  });
}

function placeOf(launch: Launch, name: string | undefined): TextRange {
  const option = name === undefined ? undefined : optionOf(launch, name);
  if (option) {
    return option.valueRange ?? option.range;
  }
  return name === 'model' && launch.model ? launch.model.range : launch.head;
}

/** Options the engine does not know, or does not know in that version. */
export function optionFindings(launch: Launch, engine: Engine, version: string): readonly Located[] {
  return launch.options.flatMap((option): readonly Located[] => {
    const at = (code: string, message: string, fixes: readonly Fix[] = []): readonly Located[] => [
      {
        finding: { code, severity: 'warning', message, option: option.name, fixes, refuses: 'perhaps' },
        range: option.nameRange,
      },
    ];
    if (!option.spec) {
      const there = engine.options.filter((o) => availability(o, version) === 'ok').map((o) => o.name);
      const [near] = nearest(option.name, there, 1, (name) => name);
      const like = near === undefined ? '' : ` Did you mean ${near}?`;
      return at(
        'unknown-option',
        `${engine.title} is not known to have an option ${option.name}, and refuses those it has not.${like}`,
        near === undefined || optionOf(launch, near) ? [] : [renamed(option, near)],
      );
    }
    const available = availability(option.spec, version);
    if (available === 'ok') {
      return [];
    }
    return 'since' in available
      ? at(
          'option-too-new',
          `${option.name} came with ${engine.title} ${available.since}; this launch runs ${version}.`,
        )
      : at(
          'option-removed',
          `${option.name} is gone since ${engine.title} ${available.until}; this launch runs ${version}.`,
        );
  });
}

const renamed = ({ name, raw }: LaunchOption, near: string): Fix => ({
  title: `Write ${near} for ${name}`,
  option: near,
  value: raw,
  replaces: name,
});

/** More GPUs asked for than are offered: certain only on one machine, so it warns. */
export function placementFindings(
  launch: Launch,
  placement: Placement,
  hardware: Hardware | undefined,
): readonly Located[] {
  const offered = hardware?.count ?? launch.hardware.count?.value;
  const wanted = placement.tensor * placement.pipeline;
  if (offered === undefined || wanted <= offered) {
    return [];
  }
  const message = `One replica needs ${wanted} GPUs (tensor ${placement.tensor} × pipeline ${placement.pipeline}); ${offered} ${offered === 1 ? 'is' : 'are'} offered. On one machine it does not start; over several each must offer its part.`;
  const role = placement.tensor > 1 ? 'tensor' : 'pipeline';
  const option = launch.options.findLast((o) => o.spec?.role === role)?.name;
  return [{ finding: { code: 'too-few-gpus', severity: 'warning', message, option, fixes: [], refuses: 'perhaps' } }];
}
