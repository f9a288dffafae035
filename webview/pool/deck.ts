/** A run on the page: its worlds side by side, the controls, what is counted, pointed at and told. */
import { type CellInfo, cellFill, cellOwners, cellState } from '../../src/core/pool';
import { withCommas } from '../../src/core/units';
import { el } from '../dom';
import { prefersStill } from '../ui/palette';
import { dropdown } from '../ui/toolkit';
import type { ViewContext } from '../view';
import { createPoolClient } from './client';
import { type Counters, counters, countsTable, setText } from './counters';
import { eventList } from './event-list';
import { bucketOf } from './grid';
import { legendItems } from './legend';
import { type PoolPanel, poolPanel } from './panel';
import type { Loaded, Picture, Scenario, Shown } from './protocol';
import { requestBox } from './request-box';
import { savingButtons } from './saving';
import { createTold } from './told';
import { transport } from './transport';
import { bucketWords, cellName, cellWords, STATES, timeWords } from './words';

export interface DeckState {
  readonly index: number;
  readonly speed: number;
  readonly selected: number;
  readonly byRequest: boolean;
}

export interface Deck {
  readonly element: HTMLElement;
  /** Replaces what runs. `playTo`: plays from the start up to that step, unless motion is reduced: then it stands there. */
  load(scenario: Scenario, start: { index: number; selected: number; playTo?: number }): void;
  shown(visible: boolean): void;
  redraw(): void;
  readonly state: () => DeckState;
  dispose(): void;
}

export interface DeckOptions {
  readonly name: string;
  readonly context: ViewContext;
  /** Cells are not drawn larger than their usual size times this. */
  readonly share: number;
  readonly initial: Partial<DeckState>;
  onLoaded?(loaded: Loaded): void;
}

/** How often the step at which it plays is kept for a reload, in milliseconds. */
const KEEP = 500;
/** Between two summaries read aloud while it plays. */
const QUIET = 6000;

export function poolDeck({ name, context, share, initial, onLoaded }: DeckOptions): Deck {
  const mark = Symbol(name);
  let scenario: Scenario | undefined;
  let loaded: Loaded | undefined;
  let shown: Shown | undefined;
  let panels: PoolPanel[] = [];
  let counted: Counters[] = [];
  let visible = false;
  /** What is asked for has not been loaded yet. */
  let stale = false;
  let goesOn = false;
  let start = { index: initial.index ?? 0, playTo: -1 };
  let selected = initial.selected ?? -1;
  let byRequest = initial.byRequest ?? true;
  let settling: ReturnType<typeof setTimeout> | undefined;
  let spoken = 0;
  const told = createTold();
  let kept = 0;

  const client = createPoolClient(mark, {
    onShown: take,
    onProgress: (index, goal) => setText(wait, `Step ${withCommas(index)} of ${withCommas(goal)} …`),
    onReading: (share) => setText(wait, `Reading the trace: ${Math.floor(100 * share)} % …`),
    onError: fail,
  });
  const controls = transport({
    onTick(steps) {
      if (client.busy()) {
        return false;
      }
      client.move(
        { kind: 'step', steps: start.playTo >= 0 ? Math.min(steps, start.playTo - indexNow()) : steps },
        selected,
      );
      return true;
    },
    onStep(steps) {
      start.playTo = -1;
      client.move({ kind: 'step', steps }, selected);
    },
    onSeek(index) {
      start.playTo = -1;
      client.move({ kind: 'seek', index }, selected);
    },
    onChange() {
      settleSoon();
      context.keep();
    },
  });
  controls.setSpeed(initial.speed ?? 10);
  const coloured = dropdown('Colour by', (value) => {
    byRequest = value === 'request';
    drawPanels();
    context.keep();
  });
  coloured.offer([
    { value: 'request', text: 'request' },
    { value: 'state', text: 'state' },
  ]);
  coloured.set(byRequest ? 'request' : 'state', false);
  controls.element.append(coloured.element);

  const wait = el('p', { class: 'pool-wait', role: 'status' }, 'Loading the simulation …');
  const trouble = el('p', { class: 'missing', role: 'alert', hidden: true });
  const stage = el('div', { class: 'pool-stage' });
  const details = el('p', { class: 'pool-details', 'aria-live': 'polite' });
  const legend = el('ul', { class: 'legend' });
  const request = requestBox(
    () => select(-1),
    () => drawRequest(),
  );
  const events = eventList();
  const countsBox = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'As a table' });
  const twin = el('details', { class: 'pool-twin' }, el('summary', {}, 'As a table'), countsBox);
  const summary = el('p', { class: 'unseen', role: 'status' });
  const save = savingButtons(name, context, () => ({ panels, loaded, shown }));
  const body = el(
    'div',
    { class: 'pool-body', hidden: true },
    controls.element,
    stage,
    details,
    legend,
    request.element,
    el('h2', {}, 'What happened'),
    events.element,
    twin,
    save,
    summary,
  );
  const element = el('div', { class: 'pool-deck' }, trouble, wait, body);
  twin.addEventListener('toggle', () => drawTwin());
  element.addEventListener('keydown', onKey);

  const indexNow = (): number => shown?.index ?? 0;

  async function loadNow(): Promise<void> {
    if (!scenario || !visible) {
      return;
    }
    stale = false;
    controls.setEnabled(false);
    wait.hidden = false;
    setText(wait, 'Loading the simulation …');
    const asked = scenario;
    const answer = await client.load(asked, start.index);
    if (answer === undefined || asked !== scenario) {
      return;
    }
    if ('error' in answer) {
      fail(answer.error);
      return;
    }
    trouble.hidden = true;
    wait.hidden = true;
    body.hidden = false;
    loaded = answer;
    told.clear();
    build(answer);
    onLoaded?.(answer);
    controls.setEnabled(true);
    client.move({ kind: 'settle' }, selected);
    if (start.playTo >= 0 || goesOn) {
      controls.play();
    }
  }

  function build({ worlds }: Loaded): void {
    for (const panel of panels) {
      panel.dispose();
    }
    counted = worlds.map(counters);
    // Pools of nearly the same memory are drawn alike, cell beside cell.
    const most = Math.max(...worlds.map(({ cells }) => cells));
    const alike = worlds.every(({ cells }) => cells > 0.95 * most);
    panels = worlds.map((world, i) =>
      poolPanel(
        world,
        { share, cells: alike ? most : world.cells, answer: counted[i]?.answer },
        {
          onPoint: (cell) => point(i, cell),
          onPick: (cell) => select(shown?.pictures[i]?.owner[cell] ?? -1),
        },
      ),
    );
    stage.style.setProperty('--worlds', String(worlds.length));
    stage.replaceChildren(
      ...panels.map((panel, i) => el('figure', {}, panel.element, ...(counted[i] ? [counted[i].element] : []))),
    );
    legend.replaceChildren(...legendItems(worlds.map(({ engine }) => engine)));
  }

  function fail(text: string): void {
    if (text !== '') {
      controls.pause();
      wait.hidden = true;
      trouble.hidden = false;
      setText(trouble, text);
    }
  }

  function take(next: Shown): void {
    const before = shown;
    shown = next;
    const now = performance.now();
    const playing = controls.playing();
    told.take(next, before, playing);
    const { now: seconds = 0 } = next.pictures[0]?.frame ?? {};
    const end = next.ended ? ' · the end' : '';
    controls.show({ ...next, text: `Step ${withCommas(next.index)} · ${timeWords(seconds)}${end}` });
    if (next.ended || next.index === start.playTo) {
      start.playTo = -1;
      controls.pause();
    }
    start.index = next.index;
    drawAll();
    settleSoon();
    if (playing && now - kept > KEEP) {
      kept = now;
      context.keep();
    }
  }

  /** At rest, tables and hashes are those of the step that is shown; the worker may have to run there. */
  function settleSoon(): void {
    clearTimeout(settling);
    if (shown && !shown.tables && selected >= 0 && !controls.playing() && visible) {
      settling = setTimeout(() => client.move({ kind: 'settle' }, selected), 150);
    }
    if (!controls.playing()) {
      events.draw(told.log(), loaded?.worlds ?? [], false);
      speak(0);
      context.keep();
    }
  }

  function select(request: number): void {
    selected = request === selected ? -1 : request;
    client.move({ kind: 'settle' }, selected);
    drawAll();
    context.keep();
  }

  function drawAll(): void {
    drawPanels();
    shown?.pictures.forEach((picture, i) => {
      counted[i]?.draw(picture);
    });
    events.draw(told.log(), loaded?.worlds ?? [], controls.playing());
    drawRequest();
    drawTwin();
    speak(QUIET);
    element.dataset.step = String(indexNow());
  }

  function drawPanels(): void {
    const playing = controls.playing();
    panels.forEach((panel, i) => {
      const picture = shown?.pictures[i];
      if (picture && shown) {
        panel.draw({
          picture,
          tables: shown.tables?.[i] ?? [],
          selected,
          byRequest,
          marks: told.marks(i, playing),
        });
      }
    });
  }

  const drawRequest = (): void => request.draw(selected, loaded, shown);

  function drawTwin(): void {
    if (twin.open && loaded && shown) {
      countsBox.replaceChildren(countsTable(loaded.worlds, shown.pictures));
    }
  }

  function speak(pause: number): void {
    const now = performance.now();
    if (shown && loaded && now - spoken >= pause) {
      spoken = now;
      const { worlds } = loaded;
      const each = shown.pictures.map(
        ({ frame }, i) =>
          `${worlds[i]?.title}: ${frame.finished} served, ${frame.running} running, ${frame.waiting} waiting`,
      );
      setText(summary, `Step ${indexNow()}. ${each.join('. ')}.`);
      panels.forEach((panel, i) => {
        panel.describe(`${worlds[i]?.title}: ${withCommas(worlds[i]?.cells ?? 0)} cells. ${each[i]}`);
      });
    }
  }

  let asked = 0;
  function point(world: number, cell: number): void {
    const at = loaded?.worlds[world];
    const picture = shown?.pictures[world];
    const pointed = panels[world]?.pointed();
    const mine = ++asked;
    if (!at || !picture || cell < 0 || !pointed) {
      return;
    }
    const cells = bucketOf(pointed.grid, pointed.camera, cell);
    if (cells.length > 1) {
      setText(details, bucketWords(cells, picture.meta, cellName(at.engine)));
      return;
    }
    const tell = (info: CellInfo): void => setText(details, cellWords(info, cellName(at.engine), at.cellTokens));
    tell(infoOf(picture, cell));
    if (controls.playing()) {
      return; // only a run that rests can be asked for more
    }
    void client.inspect(world, cell).then((answer) => {
      if (answer?.info && mine === asked) {
        tell(answer.info);
      }
    });
  }

  function onKey(event: KeyboardEvent): void {
    const { target } = event;
    const typing =
      target instanceof HTMLInputElement ||
      (target instanceof HTMLElement && /^vscode-|^SUMMARY$/i.test(target.tagName));
    if (event.key === 'Escape' && selected >= 0) {
      select(-1);
    } else if (event.key === ' ' && !typing) {
      controls.toggle();
    } else if (
      (event.key === ',' || event.key === '.') &&
      !(target instanceof HTMLInputElement && target.type !== 'range')
    ) {
      controls.pause();
      start.playTo = -1;
      client.move({ kind: 'step', steps: event.key === ',' ? -1 : 1 }, selected);
    } else {
      return;
    }
    event.preventDefault();
  }

  return {
    element,
    load(next, at) {
      scenario = next;
      selected = at.selected;
      const playTo = at.playTo ?? -1;
      goesOn = controls.playing() && playTo < 0; // an edit does not stop what plays
      start = playTo >= 0 && prefersStill() ? { index: playTo, playTo: -1 } : { index: at.index, playTo };
      controls.pause();
      shown = undefined;
      stale = true;
      void loadNow();
    },
    shown(next) {
      visible = next;
      controls.setVisible(next);
      if (next && (stale || !client.isHolder())) {
        void loadNow();
      }
    },
    redraw() {
      legend.replaceChildren(...legendItems((loaded?.worlds ?? []).map(({ engine }) => engine)));
      for (const panel of panels) {
        panel.redraw();
      }
    },
    state: () => ({ index: start.index, speed: controls.speed(), selected, byRequest }),
    dispose() {
      controls.pause();
      clearTimeout(settling);
      client.dispose();
      for (const panel of panels) {
        panel.dispose();
      }
    },
  };
}

/** What the picture itself says of a cell: everything but its hash. */
function infoOf({ meta, owner, logical }: Picture, cell: number): CellInfo {
  const state = meta[cell] ?? 0;
  const owned = (owner[cell] ?? -1) >= 0;
  return {
    cell,
    state: STATES[cellState(state)] ?? 'free',
    owner: owned ? owner[cell] : undefined,
    logical: owned ? logical[cell] : undefined,
    tokens: cellFill(state),
    owners: cellOwners(state),
    hash: undefined,
  };
}
