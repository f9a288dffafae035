/** What each tab of the dashboard fills. */
import type { PlanView } from '../src/dashboard/protocol';
import type { Host } from './host';

export interface DashboardView {
  readonly element: HTMLElement;
  /** A plan to show: called when the tab is first opened, and at every change while it is open. */
  draw(view: PlanView): void;
  /** The theme changed. */
  redraw(): void;
  /** Whether anyone can see it. Nothing may run while nobody can: another tab is open, or the panel is hidden. */
  shown?(visible: boolean): void;
  /** What a reload should bring back: plain data, small. */
  state?(): unknown;
}

export interface ViewContext {
  readonly host: Host;
  /** Shows another plan than the host sent on its own (a what-if). */
  show(view: PlanView): void;
  /** Says something that went wrong, above every view; empty text takes it back. */
  say(text: string): void;
  /** The view's `state()` has changed. */
  keep(): void;
  openTab(id: string): void;
}

export interface ViewMaker {
  readonly id: string;
  readonly title: string;
  /** `state` is what `state()` gave before a reload; it may be of an older make, or anything. */
  make(context: ViewContext, state: unknown): DashboardView;
}
