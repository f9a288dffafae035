/** What the editor offers the dashboard. */
import type { Event, TextDocument, Uri } from 'vscode';
import type { ReadInput } from '../launch/launch';
import type { Plan, PlanContext } from '../planner';
import type { TryOptions } from '../planner/alternatives';
import type { Whereabouts } from './whereabouts';

export interface PlannedDocument {
  readonly version: number;
  readonly input: ReadInput;
  readonly context: PlanContext;
  readonly plans: readonly Plan[];
  readonly tryOptions: TryOptions;
}

/** A text that is not open: an older one of a file. */
export interface PlannedText {
  readonly input: ReadInput;
  readonly context: PlanContext;
  readonly result: { readonly plans: readonly Plan[] };
}

export interface OlderText {
  readonly title: string;
  readonly detail: string;
  readonly uri: Uri;
}

export interface DashboardPorts {
  of(document: TextDocument): Promise<PlannedDocument | undefined>;
  plan(source: { readonly uri: Uri; readonly text: string; readonly name: string }): Promise<PlannedText | undefined>;
  readonly onDidChange: Event<TextDocument>;
  /** A command that the page may ask for, on the launch that is shown. */
  run(command: 'showReport' | 'setGpu', uri: Uri, offset: number): void;
  /** Older texts of a file, newest first; none where nobody keeps them. */
  olderTexts(file: Uri): Promise<readonly OlderText[]>;
}

/** What one panel works with. */
export interface PanelPorts extends DashboardPorts {
  readonly where: Whereabouts;
}
