/** The benchmark: does paging cost the attention kernel anything, on the GPU of this window? */
import './view.css';
import { readBenchResult } from '../../src/core/pool/kernel-result';
import type { PlanView } from '../../src/dashboard/protocol';
import { el } from '../dom';
import { button } from '../ui/toolkit';
import type { DashboardView, ViewContext, ViewMaker } from '../view';
import { startWorker } from '../worker';
import { shapeControls } from './controls';
import type { AdapterFacts, Trouble } from './device';
import type { Asked } from './fit';
import type { FromWorker, ToWorker } from './messages';
import { resultsPanel } from './results';
import { troubleWords, whoseGpu } from './words';

export const benchTab: ViewMaker = { id: 'bench', title: 'Benchmark', make: benchView };

/** Milliseconds that a cancelled run gets to end by itself. */
const GRACE = 2000;

/** After these there is no GPU to try again on by itself. */
const ABSENT: readonly Trouble[] = ['no-webgpu', 'no-adapter', 'refused', 'limits'];

function benchView(context: ViewContext, kept: unknown): DashboardView {
  const before = (kept ?? {}) as { readonly shape?: unknown; readonly result?: unknown };
  const controls = shapeControls(before.shape, () => context.keep());
  const results = resultsPanel(context);
  const adapterLine = el('p', { class: 'caption', 'data-adapter': 'unknown' }, 'Looking for a GPU …');
  const banner = el('p', { class: 'missing', hidden: true });
  const trouble = el('div', { class: 'bench-trouble', role: 'alert', hidden: true });
  const launchNotes = el('p', { class: 'caption' });
  const bar = el('progress', { max: 1, value: 0, 'aria-label': 'Progress of the benchmark', hidden: true });
  const status = el('span', { role: 'status' });
  const run = button('Run Benchmark', () => void start(false), 'primary');
  const anyway = button('Time This CPU Anyway', () => void start(true));
  const cancel = button('Cancel', () => stop());
  const again = button('Look Again', () => void look());

  let worker: Promise<Worker> | undefined;
  let adapter: AdapterFacts | undefined;
  let absent = false;
  let running = false;
  let visible = false;
  let plan: PlanView | undefined;
  let last = savedResult(before.result);
  let grace: ReturnType<typeof setTimeout> | undefined;

  const send = async (message: ToWorker): Promise<void> => {
    worker ??= begin();
    try {
      (await worker).postMessage(message);
    } catch (error) {
      worker = undefined;
      setRunning(false);
      context.say(error instanceof Error ? error.message : String(error));
    }
  };
  const begin = async (): Promise<Worker> => {
    const started = await startWorker('bench-worker');
    started.onmessage = ({ data }: MessageEvent<FromWorker>) => hear(data);
    started.onerror = (event) => {
      event.preventDefault();
      end();
      tell('validation', event.message || 'The benchmark broke off.');
    };
    return started;
  };
  /** The worker goes, whatever it was doing. */
  const end = (): void => {
    void worker?.then((it) => it.terminate()).catch(() => {});
    worker = undefined;
    setRunning(false);
  };

  const hear = (message: FromWorker): void => {
    switch (message.kind) {
      case 'adapter':
        found(message.adapter);
        return;
      case 'progress':
        bar.value = message.share;
        status.textContent = `${message.what} …`;
        return;
      case 'trouble':
        if (message.trouble === 'stuck') {
          end(); // what it waits for may never come
        } else {
          setRunning(false);
        }
        absent = absent || message.during === 'look' || ABSENT.includes(message.trouble);
        tell(message.trouble, message.message);
        return;
      case 'done':
        setRunning(false);
        last = { result: message.result, study: message.study };
        results.draw(last);
        context.keep();
        return;
      case 'reference':
        setRunning(false);
        results.reference(message.reference);
    }
  };

  const found = (facts: AdapterFacts): void => {
    adapter = facts;
    absent = false;
    trouble.hidden = true;
    show();
  };
  const tell = (kind: Trouble, message: string): void => {
    const { title, text } = troubleWords(kind);
    trouble.hidden = false;
    trouble.dataset.trouble = kind;
    trouble.replaceChildren(
      el('h2', {}, title),
      el('p', {}, text),
      ...(kind === 'cancelled'
        ? []
        : [el('details', {}, el('summary', {}, 'What the driver said'), el('p', {}, message))]),
    );
    show();
  };
  const setRunning = (on: boolean): void => {
    running = on;
    clearTimeout(grace);
    bar.value = 0;
    status.textContent = '';
    show();
  };
  const show = (): void => {
    run.textContent = absent ? 'Run the CPU Reference' : 'Run Benchmark';
    run.toggleAttribute('disabled', running);
    anyway.hidden = running || adapter?.fallback !== true;
    again.hidden = running || !absent;
    cancel.hidden = !running;
    bar.hidden = !running;
    adapterLine.dataset.adapter = absent ? 'absent' : adapter ? 'found' : 'unknown';
    adapterLine.hidden = absent;
    adapterLine.textContent = adapter ? whoseGpu(adapter, plan?.bench.remote ?? '') : 'Looking for a GPU …';
    banner.hidden = absent || adapter?.fallback !== true;
    banner.textContent =
      'A software adapter: only whether the kernels are right is tested, on small sizes. Times would describe this CPU.';
  };

  const look = async (): Promise<void> => {
    trouble.hidden = true;
    absent = false;
    adapter = undefined;
    show();
    await send({ kind: 'look' });
  };
  const start = async (timesAnyway: boolean): Promise<void> => {
    if (running) {
      return;
    }
    trouble.hidden = true;
    results.clear();
    setRunning(true);
    status.textContent = 'starting …';
    const pool = plan?.pool;
    await send(
      absent
        ? { kind: 'reference' }
        : {
            kind: 'run',
            asked: controls.asked(),
            remote: plan?.bench.remote ?? '',
            timesAnyway,
            ...(pool?.kind === 'world' && { world: pool.world }),
          },
    );
  };
  const stop = (): void => {
    status.textContent = 'cancelling …';
    void send({ kind: 'cancel' });
    // A GPU that does not come back cannot be asked: the worker ends.
    grace = setTimeout(() => {
      end();
      tell('cancelled', '');
    }, GRACE);
  };

  show();
  if (last) {
    results.draw(last);
  }
  return {
    element: el(
      'div',
      { class: 'bench' },
      el(
        'header',
        { class: 'view-head' },
        el('h1', {}, 'What paging costs the attention kernel'),
        el(
          'p',
          { class: 'caption' },
          'The same decode attention over keys and values in one slab and in blocks, checked against float64 and then timed side by side.',
        ),
      ),
      adapterLine,
      banner,
      controls.element,
      launchNotes,
      el('p', { class: 'row' }, run, anyway, again, cancel, bar, status),
      trouble,
      results.element,
    ),
    draw(view) {
      plan = view;
      const { bench } = view;
      controls.follow(bench.kind === 'shape' ? askedOf(bench) : undefined);
      launchNotes.textContent =
        bench.kind === 'shape' ? bench.notes.join(' ') : `${bench.text} The shape is set by hand.`;
      launchNotes.hidden = launchNotes.textContent === '';
      show();
    },
    redraw: () => results.redraw(),
    shown(now) {
      visible = now;
      if (now && !worker) {
        void look();
      } else if (worker) {
        void send({ kind: 'rest', resting: !visible });
      }
    },
    state: () => ({ shape: controls.state(), ...(last && { result: last.result }) }),
  };
}

const askedOf = (bench: Extract<PlanView['bench'], { kind: 'shape' }>): Asked => ({
  heads: bench.queryHeads,
  kvHeads: bench.kvHeads,
  headDim: bench.headDim,
  dtype: bench.kvDtype,
  blockSize: bench.blockSize,
  prompt: bench.prompt,
  output: bench.output,
});

/** A result that an earlier page kept: shown with its date. */
function savedResult(kept: unknown): Parameters<ReturnType<typeof resultsPanel>['draw']>[0] | undefined {
  const read = kept === undefined ? undefined : readBenchResult(kept);
  return read && 'result' in read ? { result: read.result } : undefined;
}
