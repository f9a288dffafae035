/** A strip of tabs over panels. */

export interface Tabs {
  readonly element: HTMLElement;
  open(id: string): void;
}

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly panel: HTMLElement;
}

interface Panels extends HTMLElement {
  activeid: string;
  activeindicator: boolean;
}

/** The library's own tabs: arrow keys move between them, and each names its panel. */
export function tabs(all: readonly Tab[], first: string, onOpen: (id: string) => void): Tabs {
  const element = document.createElement('vscode-panels') as Panels;
  element.setAttribute('activeid', `tab-${first}`);
  element.setAttribute('aria-label', 'Views');
  // The library's moving line leaves a listener behind at every move: the style sheet underlines the open tab instead.
  element.activeindicator = false;
  for (const { id, title } of all) {
    const tab = document.createElement('vscode-panel-tab');
    tab.id = `tab-${id}`;
    tab.textContent = title;
    element.append(tab);
  }
  for (const { id, panel } of all) {
    const view = document.createElement('vscode-panel-view');
    view.id = `view-${id}`;
    view.append(panel);
    element.append(view);
  }
  let current = first;
  element.addEventListener('change', (event) => {
    // A field inside a panel tells of its own changes by the same name.
    const id = element.activeid?.replace(/^tab-/, '');
    if (event.target === element && id && id !== current) {
      current = id;
      onOpen(id);
    }
  });
  return {
    element,
    open(id) {
      // The library tells only of what a person opens.
      if (id !== current) {
        current = id;
        element.activeid = `tab-${id}`;
        onOpen(id);
      }
    },
  };
}
