/** The host as the page sees it: messages checked, requests answered or given up, state kept over a reload. */
import {
  type HostState,
  type KeptState,
  type Method,
  type PageState,
  type Params,
  PROTOCOL,
  type Result,
  readResult,
  readState,
  readToPage,
  type ToHost,
  type View,
} from '../src/dashboard/protocol';

interface VsCodeApi {
  postMessage(message: ToHost): void;
  getState(): unknown;
  setState(state: KeptState): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

export type Answer<M extends Method> =
  | { readonly ok: true; readonly result: Result<M> }
  | { readonly ok: false; readonly error: string };

export interface Host {
  /** Runs on every view that the host sends on its own. */
  onShow(listener: (view: View) => void): void;
  /** Says that the page is there. */
  ready(): void;
  /** Never rejects. `patience` in milliseconds: a person may take long to pick a file, a plan takes milliseconds. */
  ask<M extends Method>(method: M, params: Params<M>, patience?: number): Promise<Answer<M>>;
  run(command: 'showReport' | 'setGpu' | 'reveal', line?: number): void;
  /** What the page of an earlier load kept. */
  kept(): PageState | undefined;
  keep(state: PageState): void;
}

/** A host that is this late is gone. */
const PATIENCE = 10_000;
/** Where a person is asked something. */
export const PERSON = 30 * 60_000;

type Raw = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

const later = (one: KeptState | undefined, other: KeptState | undefined): KeptState | undefined =>
  (other?.edition ?? -1) > (one?.edition ?? -1) ? other : (one ?? other);

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

export function connectHost(): Host {
  const api = acquireVsCodeApi();
  const waiting = new Map<number, (reply: Raw) => void>();
  let show: (view: View) => void = () => {};
  let last = 0;
  const { kept: given } = document.body.dataset;
  const before = later(readState(api.getState()), readState(jsonOf(given)));
  let edition = before?.edition ?? 0;
  let page = before?.page;
  let host: HostState | undefined = before;
  /** What is tried and not answered yet: a reload may come before the answer. */
  let asked: HostState | undefined;

  const write = (): void => {
    if (host) {
      const isAsked = asked?.file === host.file && asked.index === host.index;
      const { version, file, index, sighting, whatIf } = isAsked && asked ? asked : host;
      edition++;
      const state = { version, file, index, ...(sighting && { sighting }), whatIf, ...(page && { page }), edition };
      api.setState(state);
      if (given !== undefined) {
        api.postMessage({ version: PROTOCOL, type: 'kept', state });
      }
    }
  };
  const take = (state: HostState | undefined): void => {
    host = state ?? host;
    write();
  };

  window.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const message = readToPage(data);
    if (message?.type === 'show') {
      take(message.state);
      show(message.view);
    } else if (message?.type === 'reply') {
      waiting.get(message.to)?.({ ok: true, result: message.result });
    } else if (message?.type === 'refusal') {
      waiting.get(message.to)?.({ ok: false, error: message.error });
    }
  });

  const request = (method: Method, params: unknown, patience: number): Promise<Raw> => {
    const id = ++last;
    return new Promise((resolve) => {
      const done = (reply: Raw): void => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(reply);
      };
      const timer = setTimeout(() => done({ ok: false, error: 'The extension did not answer.' }), patience);
      waiting.set(id, done);
      api.postMessage({ version: PROTOCOL, type: 'request', id, method, params });
    });
  };

  return {
    onShow(listener) {
      show = listener;
    },
    ready: () => api.postMessage({ version: PROTOCOL, type: 'ready' }),
    async ask(method, params, patience = PATIENCE) {
      const trying = host && method === 'whatIf' ? { ...host, ...(params as Params<'whatIf'>) } : undefined;
      if (trying) {
        asked = trying;
        write();
      }
      const reply = await request(method, params, patience);
      if (trying && asked === trying) {
        asked = undefined;
        host = host?.file === trying.file && host.index === trying.index ? trying : host;
      }
      if (!reply.ok) {
        return reply;
      }
      const result = readResult(method, reply.result);
      if (!result) {
        return { ok: false, error: 'The extension’s answer could not be read.' };
      }
      if ('state' in result) {
        take(result.state as HostState);
      }
      return { ok: true, result };
    },
    run(command, line) {
      api.postMessage({ version: PROTOCOL, type: 'run', command, ...(line !== undefined && { line }) });
    },
    kept: () => page,
    keep(state) {
      page = state;
      write();
    },
  };
}
