/** Elements in one expression. Text is always set as text. */

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children);
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/** A table of text; the first column heads its row. Without titles of columns (`head` empty) it is a list of facts. */
export function textTable(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly (string | Node)[])[],
): HTMLTableElement {
  const cell = (content: string | Node, i: number): HTMLElement =>
    i === 0 ? el('th', { scope: 'row' }, content) : el('td', {}, content);
  return el(
    'table',
    {},
    el('caption', { class: 'unseen' }, caption),
    ...(head.length > 0
      ? [el('thead', {}, el('tr', {}, ...head.map((title) => el('th', { scope: 'col' }, title))))]
      : []),
    el('tbody', {}, ...rows.map((row) => el('tr', {}, ...row.map(cell)))),
  );
}
