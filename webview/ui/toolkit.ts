/** The controls in use, and the only file that knows which library draws them. */
import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeDropdown,
  vsCodeOption,
  vsCodePanels,
  vsCodePanelTab,
  vsCodePanelView,
  vsCodeTextArea,
  vsCodeTextField,
} from '@vscode/webview-ui-toolkit';
import { setAttributes } from '../dom';

export function registerControls(): void {
  provideVSCodeDesignSystem().register(
    vsCodeButton(),
    vsCodeDropdown(),
    vsCodeOption(),
    vsCodePanels(),
    vsCodePanelTab(),
    vsCodePanelView(),
    vsCodeTextArea(),
    vsCodeTextField(),
  );
}

/** A control with a value that a person changes. */
export interface Field {
  readonly element: HTMLElement;
  /** Shows a value without telling anyone. */
  set(value: string, tried: boolean): void;
}

interface Valued extends HTMLElement {
  value: string;
}

/** `label` says to a screen reader, and under the pointer, what a short text leaves open. */
export function button(
  text: string,
  onPress: () => void,
  look: 'primary' | 'secondary' | 'icon' = 'secondary',
  label?: string,
): HTMLElement {
  const element = document.createElement('vscode-button');
  setAttributes(element, { appearance: look, 'aria-label': label, title: label });
  element.textContent = text;
  element.addEventListener('click', onPress);
  return element;
}

/** A number typed as text. Tells when it is committed: Enter, or leaving the field. */
export function numberField(label: string, onCommit: (value: string) => void, least: 0 | 1 = 1): Field {
  const element = document.createElement('vscode-text-field') as Valued;
  setAttributes(element, { inputmode: 'numeric', size: 8 });
  let shown = '';
  const commit = (): void => {
    const value = element.value.replace(/[\s,_]/g, '');
    const wrong = value !== '' && !(/^\d{1,12}$/.test(value) && Number(value) >= least);
    mark(element, wrong);
    if (!wrong && value !== shown) {
      shown = value;
      onCommit(value);
    }
  };
  element.addEventListener('change', commit);
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      commit();
    } else if (event.key === 'Escape') {
      element.value = shown;
      mark(element, false);
    }
  });
  return {
    element: labelled(label, element),
    set(value, tried) {
      shown = value;
      mark(element, false);
      show(element, label, value, tried);
    },
  };
}

/** A long text. Tells at every change; whoever listens waits for a pause. */
export function textArea(label: string, placeholder: string, onInput: (value: string) => void): Field {
  const element = document.createElement('vscode-text-area') as Valued;
  setAttributes(element, { rows: 6, resize: 'vertical', placeholder, spellcheck: 'false' });
  element.addEventListener('input', () => onInput(element.value));
  return {
    element: labelled(label, element),
    set: (value, tried) => show(element, label, value, tried),
  };
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

export interface ChoiceField extends Field {
  offer(choices: readonly Choice[]): void;
}

export function dropdown(label: string, onPick: (value: string) => void): ChoiceField {
  const element = document.createElement('vscode-dropdown') as Valued;
  setAttributes(element, { position: 'below' });
  element.addEventListener('change', () => onPick(element.value));
  let offered = '';
  return {
    element: labelled(label, element),
    offer(choices) {
      const key = JSON.stringify(choices);
      if (key === offered) {
        return; // rebuilding would close an open list
      }
      offered = key;
      element.replaceChildren(...choices.map(option));
    },
    set: (value, tried) => show(element, label, value, tried),
  };
}

function option({ value, text }: Choice): HTMLElement {
  const element = document.createElement('vscode-option');
  element.setAttribute('value', value);
  element.textContent = text;
  return element;
}

function show(element: Valued, label: string, value: string, tried: boolean): void {
  element.setAttribute('aria-label', label); // when it is connected, the library names a field `Text field`
  if (element.value !== value) {
    element.value = value;
  }
  element.parentElement?.classList.toggle('tried', tried);
}

/** Says that a value cannot be taken; it stays to be mended. */
function mark(element: HTMLElement, wrong: boolean): void {
  setAttributes(element, { 'aria-invalid': wrong ? 'true' : undefined });
  element.parentElement?.classList.toggle('wrong', wrong);
}

function labelled(label: string, control: HTMLElement): HTMLElement {
  const box = document.createElement('div');
  box.className = 'field';
  const words = document.createElement('span');
  words.className = 'label';
  words.setAttribute('aria-hidden', 'true');
  words.textContent = label;
  box.append(words, control);
  return box;
}
