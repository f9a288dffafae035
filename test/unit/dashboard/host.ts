/** The dashboard's host on a made-up editor, and a page that asks it as the real one does. */
import type { Memory } from '../../../src/dashboard/memory';
import { createDashboard } from '../../../src/dashboard/panel';
import type { DashboardPorts } from '../../../src/dashboard/ports';
import { type Method, type Pin, PROTOCOL, type Shown, type WhatIf } from '../../../src/dashboard/protocol';
import { createPlans, type Plans } from '../../../src/editor/plans';
import { editor, vscode } from './fake-editor';

export type Panel = (typeof editor.panels)[number];
export type Document = ReturnType<typeof editor.open>;

const noGrammars = { get: () => undefined, load: async () => {} };
const noFacts = { read: () => null, look: async () => {}, onDidChange: new vscode.EventEmitter<void>().event };

export interface Host {
  readonly plans: Plans;
  readonly dashboard: ReturnType<typeof createDashboard>;
  /** Texts that were planned, in order. */
  readonly planned: readonly string[];
  readonly revisions: { title: string; detail: string; uri: unknown }[];
  show(document: Document, line?: number): Promise<Page>;
  dispose(): void;
}

/** The host with the real planner behind it. */
export function openHost(memory?: Memory): Host {
  const log = { error: (text: string) => editor.warnings.push(text) };
  const plans = createPlans(noGrammars as never, noFacts as never, log as never);
  const planned: string[] = [];
  const revisions: Host['revisions'] = [];
  const ports: DashboardPorts = {
    ...plans,
    of(document) {
      planned.push(document.getText());
      return plans.of(document);
    },
    run: () => {},
    olderTexts: async () => revisions as never,
  };
  const dashboard = createDashboard(vscode.Uri.file('/extension') as never, ports, memory);
  return {
    plans,
    dashboard,
    planned,
    revisions,
    async show(document, line = 0) {
      editor.look(document, line);
      await dashboard.show(document as never, document.offsetAt({ line, character: 0 }));
      return pageOf(editor.panels.at(-1) as Panel);
    },
    dispose() {
      dashboard.dispose();
      plans.dispose();
    },
  };
}

export interface Page {
  readonly panel: Panel;
  /** What the host showed last on its own. */
  shown(): Shown | undefined;
  ask<T = unknown>(method: Method, params: unknown): Promise<T>;
  try(whatIf: WhatIf): Promise<Shown>;
  compare(pins: readonly Pin[]): Promise<{ columns: { title: string; error?: string }[]; pins: Pin[] }>;
}

let asked = 0;

/** A page that is ready; what is refused rejects with its words. */
export async function pageOf(panel: Panel): Promise<Page> {
  const shown = () => panel.told.findLast((m) => m.type === 'show') as unknown as Shown | undefined;
  const first = panel.next(({ type }) => type === 'show');
  panel.said.fire({ version: PROTOCOL, type: 'ready' });
  await first;
  const ask = async <T>(method: Method, params: unknown): Promise<T> => {
    const id = ++asked;
    const answer = panel.next(({ to }) => to === id);
    panel.said.fire({ version: PROTOCOL, type: 'request', id, method, params });
    const reply = await answer;
    if (reply.type === 'refusal') {
      throw new Error(String(reply.error));
    }
    return reply.result as T;
  };
  return {
    panel,
    shown,
    ask,
    try: (whatIf) => ask('whatIf', { whatIf }),
    compare: (pins) => ask('compare', { pins }),
  };
}

const service = (name: string, length: number): string =>
  `  ${name}:\n    image: vllm/vllm-openai:v0.28.0\n    command: --model meta-llama/Llama-3.1-8B-Instruct --max-model-len ${length}\n`;

/** A Compose file of one launch for each name; each has a length of its own. */
export const compose = (...names: readonly string[]): string =>
  `# kv-planner: gpu=L4\nservices:\n${names.map((name, i) => service(name, 4096 + 16 * i + name.length)).join('')}`;
