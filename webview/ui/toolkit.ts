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
  /** Says why the value cannot be taken; it stays to be mended. Nothing takes it back. */
  fail(why: string | undefined): void;
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
export const numberField = (label: string, onCommit: (value: string) => void, least: 0 | 1 = 1): Field =>
  typed(label, onCommit, (text) => {
    const value = plain(text);
    const taken = value === '' || (/^\d{1,12}$/.test(value) && Number(value) >= least);
    return taken ? { value } : { why: `It must be a whole number from ${least} on.` };
  });

/** A number of which somebody else knows whether it can be taken. */
export const countField = (label: string, onCommit: (value: string) => void): Field =>
  typed(label, onCommit, (text) => ({ value: plain(text) }));

/** Without the marks that group digits; anything else stays as it is. */
const plain = (text: string): string => (/^[\d\s,_]*$/.test(text) ? text.replace(/[\s,_]/g, '') : text.trim());

/** Any text, of which somebody else knows whether it can be taken. */
export const textField = (label: string, onCommit: (value: string) => void): Field =>
  typed(label, onCommit, (text) => ({ value: text.trim() }));

function typed(
  label: string,
  onCommit: (value: string) => void,
  read: (text: string) => { readonly value: string } | { readonly why: string },
): Field {
  const element = document.createElement('vscode-text-field') as Valued;
  setAttributes(element, { size: 8, autocomplete: 'off', spellcheck: 'false' });
  const parts = labelled(label, element);
  let shown = '';
  const commit = (): void => {
    const result = read(element.value);
    parts.fail('why' in result ? result.why : undefined);
    if ('value' in result && result.value !== shown) {
      shown = result.value;
      onCommit(result.value);
    }
  };
  element.addEventListener('change', commit);
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      commit();
    } else if (event.key === 'Escape') {
      element.value = shown;
      parts.fail(undefined);
    }
  });
  return {
    element: parts.box,
    set(value, tried) {
      // What somebody is about to type is theirs.
      const typing = document.activeElement === element && element.value !== shown;
      shown = value;
      parts.fail(undefined);
      show(element, label, typing ? element.value : value, tried);
    },
    fail: parts.fail,
  };
}

/** A long text. Tells at every change; whoever listens waits for a pause. */
export function textArea(label: string, placeholder: string, onInput: (value: string) => void): Field {
  const element = document.createElement('vscode-text-area') as Valued;
  setAttributes(element, { rows: 6, resize: 'vertical', placeholder, spellcheck: 'false' });
  element.addEventListener('input', () => onInput(element.value));
  const { box, fail } = labelled(label, element);
  return {
    element: box,
    fail,
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
  const { box, fail } = labelled(label, element);
  return {
    element: box,
    fail,
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

interface Labelled {
  readonly box: HTMLElement;
  fail(why: string | undefined): void;
}

function labelled(label: string, control: HTMLElement): Labelled {
  const box = document.createElement('div');
  box.className = 'field';
  const words = document.createElement('span');
  words.className = 'label';
  words.setAttribute('aria-hidden', 'true');
  words.textContent = label;
  const error = document.createElement('span');
  error.className = 'error';
  error.setAttribute('role', 'alert');
  box.append(words, control, error);
  return {
    box,
    fail(why) {
      error.textContent = why ?? '';
      setAttributes(control, { 'aria-invalid': why === undefined ? undefined : 'true' });
      box.classList.toggle('wrong', why !== undefined);
    },
  };
}
