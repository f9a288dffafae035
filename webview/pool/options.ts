/** The fields of what can be tried: traffic, scheduler, eviction. */
import { el } from '../dom';
import type { TraceFile } from '../trace-reader';
import { button, dropdown, type Field, numberField } from '../ui/toolkit';
import { type Choices, type Simulated, usual } from './choices';
import { ARENA_POLICIES, chosenOf, type Policy, policiesOf, withPolicies } from './policies';

export interface OptionsPanel {
  readonly element: HTMLElement;
  draw(part: Simulated, chosen: Choices, trace: TraceFile | undefined): void;
}

export interface OptionsActions {
  onChoose(chosen: Choices): void;
  onOpenTrace(): void;
  onDropTrace(): void;
}

type NumberKey = 'requests' | 'rate' | 'turns' | 'shared' | 'samples' | 'seed';

const NUMBERS: readonly (readonly [NumberKey, string])[] = [
  ['requests', 'Requests'],
  ['rate', 'Requests a second'],
  ['turns', 'Turns of a chat'],
  ['shared', 'Shared system prompt'],
  ['samples', 'Samples of a prompt'],
  ['seed', 'Seed'],
];

/** `reading`: stands by the buttons while a trace is read. */
export function optionsPanel(actions: OptionsActions, reading: HTMLElement): OptionsPanel {
  let chosen: Choices = {};
  let world = '';
  const choose = (part: Partial<Choices>): void => {
    chosen = { ...chosen, ...part };
    actions.onChoose(chosen);
  };
  const numbers = NUMBERS.map(
    ([key, label]) =>
      [key, numberField(label, (value) => choose({ [key]: value === '' ? undefined : Number(value) }))] as const,
  );
  const lengths = dropdown('Lengths', (value) => choose({ lengths: value === 'fixed' ? 'fixed' : 'varied' }));
  lengths.offer([
    { value: 'varied', text: 'around the workload’s' },
    { value: 'fixed', text: 'the workload’s' },
  ]);
  const policyFields = el('div', { class: 'fields pool-fields' });
  let policies: { field: Field; policy: Policy; arena: boolean }[] = [];
  const traceName = el('span', { class: 'note' });
  const drop = button('Generated traffic', actions.onDropTrace);
  const generated = [...numbers.slice(0, 5).map(([, { element }]) => element), lengths.element];
  const element = el(
    'details',
    { class: 'pool-options' },
    el('summary', {}, 'Traffic and rules'),
    el('div', { class: 'fields pool-fields' }, ...generated, numbers[5]?.[1].element ?? ''),
    policyFields,
    el(
      'div',
      { class: 'trial-row' },
      button('Load a trace …', actions.onOpenTrace),
      drop,
      button('Reset', () => {
        chosen = {};
        actions.onChoose(chosen);
      }),
      traceName,
      reading,
    ),
    el(
      'p',
      { class: 'note' },
      'Empty: all requests come at once, and no prompt has a shared beginning. What you pick here is tried; the file stays as it is.',
    ),
  );

  function offerPolicies(part: Simulated): void {
    const key = `${part.world.engine} ${part.contiguous !== undefined}`;
    if (key === world) {
      return;
    }
    world = key;
    const field = (policy: Policy, arena: boolean) => {
      const made = dropdown(arena ? `Contiguous: ${policy.label.toLowerCase()}` : policy.label, (value) =>
        choose(
          arena
            ? { arena: { ...chosen.arena, [policy.key]: value } }
            : { policies: { ...chosen.policies, [policy.key]: value } },
        ),
      );
      made.offer(policy.choices);
      return { field: made, policy, arena };
    };
    policies = [
      ...policiesOf(part.world).map((policy) => field(policy, false)),
      ...(part.contiguous ? ARENA_POLICIES.map((policy) => field(policy, true)) : []),
    ];
    policyFields.replaceChildren(...policies.map(({ field: { element: each } }) => each));
  }

  return {
    element,
    draw(part, now, trace) {
      chosen = now;
      offerPolicies(part);
      const values = { rate: undefined, ...usual(part), ...chosen };
      for (const [key, field] of numbers) {
        const value = values[key];
        field.set(value ? String(value) : '', chosen[key] !== undefined);
        field.element.hidden = trace !== undefined && !['rate', 'seed'].includes(key);
      }
      lengths.set(values.lengths, chosen.lengths !== undefined);
      lengths.element.hidden = trace !== undefined;
      for (const { field, policy, arena } of policies) {
        const own = arena ? chosen.arena : chosen.policies;
        const options = arena
          ? withPolicies(part.contiguous ?? part.world, ARENA_POLICIES, own ?? {})
          : withPolicies(part.world, policiesOf(part.world), own ?? {});
        field.set(chosenOf(policy, options), own?.[policy.key] !== undefined);
      }
      drop.hidden = trace === undefined;
      traceName.textContent = trace ? `Trace: ${trace.name}` : '';
    },
  };
}
