/** What a person can try: the hardware and the workload. A change is a question to the host. */
import type { Controls, WhatIf } from '../../src/dashboard/protocol';
import { el } from '../dom';
import { button, dropdown, numberField } from '../ui/toolkit';

export interface ControlsPanel {
  readonly element: HTMLElement;
  set(controls: Controls): void;
}

const UNTRIED: WhatIf = { gpu: '', gpus: '', prompt: '', output: '' };

export function controlsPanel(onTry: (whatIf: WhatIf) => void): ControlsPanel {
  let tried = UNTRIED;
  const attempt = (key: keyof WhatIf) => (value: string) => {
    tried = { ...tried, [key]: value };
    onTry(tried);
  };
  const gpu = dropdown('GPU', attempt('gpu'));
  const gpus = numberField('GPUs', attempt('gpus'));
  const prompt = numberField('Prompt tokens', attempt('prompt'));
  const output = numberField('Output tokens', attempt('output'));
  const note = el('span', { class: 'note' }, 'What you change here is tried; the file stays as it is.');
  const reset = button('Reset', () => {
    tried = UNTRIED;
    onTry(tried);
  });
  const row = el('div', { class: 'fields' }, gpu.element, gpus.element, prompt.element, output.element);
  const element = el(
    'section',
    { class: 'controls', 'aria-label': 'What if' },
    row,
    el('div', { class: 'trial' }, reset, note),
  );
  return {
    element,
    set(controls) {
      tried = controls.whatIf;
      gpu.offer(choicesOf(controls));
      gpu.set(controls.gpu, tried.gpu !== '');
      gpus.set(controls.gpus, tried.gpus !== '');
      prompt.set(controls.prompt, tried.prompt !== '');
      output.set(controls.output, tried.output !== '');
      element.classList.toggle(
        'trying',
        Object.values(tried).some((value) => value !== ''),
      );
    },
  };
}

/** The known GPUs; before them the one of the launch, when it is not among them. */
function choicesOf({ gpu, gpuChoices }: Controls): { value: string; text: string }[] {
  const known = gpuChoices.map(({ name, memory }) => ({ value: name, text: `${name} · ${memory}` }));
  const isKnown = gpuChoices.some(({ name }) => name === gpu);
  return isKnown ? known : [{ value: gpu, text: gpu || 'not known' }, ...known];
}
