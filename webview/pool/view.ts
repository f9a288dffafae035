/** The Pool view: the launch's own pool, live, and the contiguous arena beside it on the same traffic. */
import './pool.css';
import * as v from 'valibot';
import { withCommas } from '../../src/core/units';
import type { PlanView } from '../../src/dashboard/protocol';
import { el } from '../dom';
import { traceLoader } from '../trace-file';
import type { TraceFile } from '../trace-reader';
import type { DashboardView, ViewContext, ViewMaker } from '../view';
import { type Choices, readChoices, type Simulated, scenarioOf } from './choices';
import { poolDeck } from './deck';
import { optionsPanel } from './options';
import type { Loaded } from './protocol';

/** An edit redraws at once; a run starts again when the typing stops. */
const PAUSE = 300;

const kept = v.object({
  version: v.literal(1),
  deck: v.partial(v.object({ index: v.number(), speed: v.number(), selected: v.number(), byRequest: v.boolean() })),
  choices: v.unknown(),
});

export const poolTab: ViewMaker = { id: 'pool', title: 'Pool', make: poolView };

function poolView(context: ViewContext, state: unknown): DashboardView {
  const read = v.safeParse(kept, state);
  const before = read.success ? read.output : undefined;
  let chosen: Choices = readChoices(before?.choices);
  let trace: TraceFile | undefined;
  let part: Simulated | undefined;
  let running = '';
  let first = true;
  let visible = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const title = el('h1', { class: 'pool-title' });
  const notes = el('ul', { class: 'pool-notes note' });
  const empty = el('p', { class: 'missing', hidden: true });
  const deck = poolDeck({
    name: 'pool',
    context,
    share: 1,
    initial: before?.deck ?? {},
    onLoaded: (loaded) => drawNotes(loaded),
  });
  const loader = traceLoader(context);
  const options = optionsPanel(
    {
      onChoose(next) {
        chosen = next;
        start(0);
        context.keep();
      },
      onOpenTrace: () => void openTrace(),
      onDropTrace() {
        trace = undefined;
        start(0);
      },
    },
    loader.element,
  );
  const content = el('div', {}, options.element, deck.element, notes);
  const element = el('div', { class: 'pool' }, title, empty, content);

  function drawNotes(loaded: Loaded | undefined): void {
    const requests = loaded ? [`${withCommas(loaded.requests)} requests.`] : [];
    const times = part?.machine ? ['Times are estimated.'] : ['Every step is taken to last 0.02 s.'];
    const dealt = part && part.replicas > 1 ? [`One of ${part.replicas} replicas is shown.`] : [];
    const lines = [...requests, ...dealt, ...(loaded?.notes ?? []), ...(part?.notes ?? []), ...times];
    notes.replaceChildren(...lines.map((line) => el('li', {}, line)));
  }

  /** Runs what is chosen, from a step on; what runs already goes on. */
  function start(index: number): void {
    if (!part) {
      return;
    }
    options.draw(part, chosen, trace);
    const scenario = scenarioOf(part, chosen, trace);
    const key = JSON.stringify([scenario, trace?.id]); // a trace's text is no part of it
    if (key !== running) {
      running = key;
      deck.load(scenario, { index, selected: index === 0 ? -1 : deck.state().selected });
    }
  }

  async function openTrace(): Promise<void> {
    const file = await loader.open();
    if (file) {
      trace = file;
      start(0);
    }
  }

  function draw({ pool }: PlanView): void {
    part = pool.kind === 'world' ? pool : undefined;
    empty.hidden = part !== undefined;
    content.hidden = part === undefined;
    empty.textContent = pool.kind === 'reason' ? `There is no pool to show. ${pool.text}` : '';
    title.textContent = part
      ? `${part.engine}: ${withCommas(part.blocks)} ${part.world.engine === 'llama.cpp' ? 'slots' : 'blocks'} of ${withCommas(part.blockSize)} ${part.blockSize === 1 ? 'token' : 'tokens'}`
      : 'Pool';
    clearTimeout(timer);
    settle();
    if (first && part) {
      first = false;
      start(before?.deck.index ?? 0);
    } else {
      timer = setTimeout(() => start(deck.state().index), PAUSE);
    }
  }

  /** What played rests while there is no pool to show. */
  const settle = (): void => deck.shown(visible && part !== undefined);

  return {
    element,
    draw,
    redraw: deck.redraw,
    shown(next) {
      visible = next;
      settle();
    },
    state: () => ({ version: 1, deck: deck.state(), choices: chosen }),
  };
}
