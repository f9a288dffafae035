/** The host as the page sees it: messages checked, requests answered or given up, state kept over a reload. */
import {
  type DashboardState,
  PROTOCOL,
  type Reply,
  readToPage,
  type ToHost,
  type View,
  type WhatIf,
} from '../src/dashboard/protocol';

interface VsCodeApi {
  postMessage(message: ToHost): void;
  setState(state: DashboardState): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

export interface Host {
  /** Runs on every view that the host sends on its own. */
  onShow(listener: (view: View) => void): void;
  /** Says that the page is there. */
  ready(): void;
  whatIf(values: WhatIf): Promise<Reply>;
  run(command: 'showReport' | 'setGpu' | 'reveal', line?: number): void;
}

/** A plan takes milliseconds; a host that is this late is gone. */
const PATIENCE = 10_000;

export function connectHost(): Host {
  const api = acquireVsCodeApi();
  const waiting = new Map<number, (reply: Reply) => void>();
  let show: (view: View) => void = () => {};
  let last = 0;

  const keep = (state: DashboardState | undefined): void => {
    if (state) {
      api.setState(state);
    }
  };

  window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = readToPage(data);
    if (message?.type === 'show') {
      keep(message.state);
      show(message.view);
    } else if (message?.type === 'reply') {
      waiting.get(message.to)?.(message.reply);
    }
  });

  return {
    onShow(listener) {
      show = listener;
    },
    ready: () => api.postMessage({ version: PROTOCOL, type: 'ready' }),
    whatIf(values) {
      const id = ++last;
      return new Promise((resolve) => {
        const done = (reply: Reply): void => {
          clearTimeout(timer);
          waiting.delete(id);
          if (reply.ok) {
            keep(reply.state);
          }
          resolve(reply);
        };
        const timer = setTimeout(() => done({ ok: false, error: 'The extension did not answer.' }), PATIENCE);
        waiting.set(id, done);
        api.postMessage({ version: PROTOCOL, type: 'request', id, method: 'whatIf', whatIf: values });
      });
    },
    run(command, line) {
      api.postMessage({ version: PROTOCOL, type: 'run', command, ...(line !== undefined && { line }) });
    },
  };
}
