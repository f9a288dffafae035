/** Tabs and what is told to them: a view is made when its tab is first opened, and rests while nobody can see it. */
import type { PlanView } from '../src/dashboard/protocol';
import { el } from './dom';
import type { Host } from './host';
import { type Tabs, tabs } from './ui/tabs';
import type { DashboardView, ViewContext, ViewMaker } from './view';

export interface Shell {
  readonly element: HTMLElement;
  draw(view: PlanView): void;
  redraw(): void;
  /** Something else than a plan is shown: every view rests. */
  rest(): void;
}

interface Open {
  readonly maker: ViewMaker;
  readonly view: DashboardView;
  /** The plan it has drawn. */
  drawn?: PlanView;
  visible: boolean;
}

export function dashboardShell(makers: readonly ViewMaker[], host: Host, say: (text: string) => void): Shell {
  const kept = host.kept();
  const made = new Map<string, Open>();
  const places = new Map(makers.map(({ id }) => [id, el('div', { class: 'view', 'data-view': id })]));
  const asked = makers.find(({ id }) => id === kept?.tab) ?? makers[0];
  let current = asked?.id ?? '';
  let plan: PlanView | undefined;

  const keep = (): void => {
    const views = { ...kept?.views, ...Object.fromEntries([...made].map(([id, { view }]) => [id, view.state?.()])) };
    host.keep({ tab: current, views });
  };
  const context: ViewContext = {
    host,
    say,
    keep,
    show: (view) => draw(view),
    openTab: (id) => strip.open(id),
  };

  const openOf = (id: string): Open | undefined => {
    const maker = makers.find((m) => m.id === id);
    let open = made.get(id);
    if (maker && !open) {
      open = { maker, view: maker.make(context, kept?.views[id]), visible: false };
      made.set(id, open);
      places.get(id)?.replaceChildren(open.view.element);
    }
    return open;
  };

  /** Tells every view whether it is seen, and the one that is what to show. */
  const settle = (): void => {
    const seen = plan !== undefined && document.visibilityState === 'visible';
    for (const [id, open] of made) {
      const visible = seen && id === current;
      if (open.visible !== visible) {
        open.visible = visible;
        open.view.shown?.(visible);
      }
    }
    const open = made.get(current);
    if (open && plan && open.drawn !== plan) {
      open.drawn = plan;
      open.view.draw(plan);
    }
  };

  const select = (id: string): void => {
    current = id;
    if (plan) {
      openOf(id);
      settle();
      keep();
    }
  };
  const draw = (view: PlanView): void => {
    plan = view;
    openOf(current);
    settle();
  };

  const strip: Tabs = tabs(
    makers.map(({ id, title }) => ({ id, title, panel: places.get(id) as HTMLElement })),
    current,
    select,
  );
  document.addEventListener('visibilitychange', settle);
  return {
    element: strip.element,
    draw,
    redraw() {
      for (const { view } of made.values()) {
        view.redraw();
      }
    },
    rest() {
      plan = undefined;
      settle();
    },
  };
}
