/** What a person can try. A change is a question to the host; what is tried can be written into the file, or dropped. */
import type { Controls, Field as FieldView, KNOBS, WhatIf } from '../../src/dashboard/protocol';
import { el } from '../dom';
import { button, type ChoiceField, countField, dropdown, type Field, textField } from '../ui/toolkit';

export interface ControlsPanel {
  readonly element: HTMLElement;
  set(controls: Controls): void;
}

export interface TrialActions {
  onTry(whatIf: WhatIf): void;
  onApply(): void;
  onPin(): void;
}

type Key = (typeof KNOBS)[number];

/** Counts that no engine reads: their digits may be grouped. */
const COUNTS: ReadonlySet<Key> = new Set(['gpus', 'prompt', 'output']);

export function controlsPanel({ onTry, onApply, onPin }: TrialActions): ControlsPanel {
  let tried: WhatIf = {};
  const fields = new Map<
    Key,
    { readonly field: Field | ChoiceField; readonly name: HTMLElement; readonly chosen: boolean }
  >();
  const row = el('div', { class: 'fields' });
  const change = (key: Key) => (value: string) => {
    tried = { ...tried, [key]: value };
    onTry(tried);
  };

  /** Fields are made once: making them anew would take the focus away. Another engine may have others. */
  const fieldOf = (view: FieldView): Field | ChoiceField => {
    const chosen = view.choices !== undefined;
    let made = fields.get(view.key);
    if (!made || made.chosen !== chosen) {
      const make = chosen ? dropdown : COUNTS.has(view.key) ? countField : textField;
      const field = make(view.label, change(view.key));
      const name = el('span', { class: 'option', 'aria-hidden': 'true' });
      field.element.querySelector('.label')?.after(name);
      field.element.dataset.key = view.key;
      made = { field, name, chosen };
      fields.set(view.key, made);
    }
    made.name.textContent = view.option;
    made.field.element.title = view.hint;
    return made.field;
  };

  const list = el('ul', { class: 'changes' });
  const idle = el('p', { class: 'note' }, 'Change anything: it is planned at once, and the file stays as it is.');
  const apply = button('Apply to file', onApply, 'primary');
  const reset = button('Reset', () => {
    tried = {};
    onTry(tried);
  });
  const pin = button('Pin to compare', onPin);
  const notes = el('ul', { class: 'trial-notes' });
  const trial = el('div', { class: 'trial' }, list, notes);
  const element = el(
    'section',
    { class: 'controls', 'aria-label': 'What if' },
    row,
    trial,
    el('div', { class: 'trial-buttons' }, apply, reset, pin, idle),
  );

  return {
    element,
    set(controls) {
      tried = controls.whatIf;
      const made = controls.fields.map((view) => ({ view, field: fieldOf(view) }));
      const elements = made.map(({ field }) => field.element);
      if (elements.length !== row.children.length || elements.some((e, i) => e !== row.children[i])) {
        row.replaceChildren(...elements);
      }
      for (const { view, field } of made) {
        if (view.choices && 'offer' in field) {
          field.offer(view.choices);
        }
        field.set(view.value, view.tried);
        field.fail(view.error);
      }
      const trying = Object.values(controls.whatIf).some((text) => text !== '');
      list.replaceChildren(...controls.changes.map(changeItem));
      notes.replaceChildren(...controls.notes.map((note) => el('li', {}, note)));
      trial.hidden = !trying;
      idle.hidden = trying;
      reset.hidden = !trying;
      apply.hidden = !trying;
      apply.toggleAttribute('disabled', !controls.writable);
    },
  };
}

const changeItem = ({ option, from, to }: Controls['changes'][number]): HTMLElement =>
  el('li', {}, el('code', {}, option), ' ', el('s', {}, from), ' → ', el('strong', {}, to));
