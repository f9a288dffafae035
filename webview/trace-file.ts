/** Getting a trace onto the page: the host reads its text part by part, so that the page stays at hand and may stop it. */
import { el, setAttributes } from './dom';
import { PERSON } from './host';
import type { TraceFile } from './trace-reader';
import { button } from './ui/toolkit';
import type { ViewContext } from './view';

export interface TraceLoader {
  /** How far the reading is, and the button that stops it; hidden while nothing is read. */
  readonly element: HTMLElement;
  /** Asks for a file. Undefined: nobody picked one, the reading was stopped, or it failed and that has been said. */
  open(): Promise<TraceFile | undefined>;
}

const ENDINGS = ['jsonl', 'json', 'csv', 'txt', 'gz'];
let last = 0;

export function traceLoader({ host, say }: Pick<ViewContext, 'host' | 'say'>): TraceLoader {
  const words = el('span', { class: 'note', role: 'status' });
  const bar = el('progress', { max: 1, value: 0, 'aria-label': 'Reading the trace' });
  const stop = button('Stop', () => halt());
  const element = el('div', { class: 'reading', hidden: true }, bar, words, stop);
  let turn = 0;

  function halt(): void {
    turn++;
    element.hidden = true;
  }

  async function read(id: number, name: string): Promise<TraceFile | undefined> {
    const mine = ++turn;
    element.hidden = false;
    words.textContent = `Reading ${name} …`;
    const parts: Blob[] = [];
    for (let ended = false; !ended; ) {
      const reply = await host.ask('readText', { id });
      if (mine !== turn) {
        return undefined;
      }
      if (!reply.ok) {
        halt();
        say(reply.error);
        return undefined;
      }
      const { text, share, last: isLast } = reply.result;
      parts.push(new Blob([text]));
      setAttributes(bar, { value: share });
      ended = isLast;
    }
    halt();
    return { id: ++last, name, text: new Blob(parts) };
  }

  return {
    element,
    async open() {
      const reply = await host.ask('openText', { title: 'Trace of requests', endings: ENDINGS }, PERSON);
      say(reply.ok ? '' : reply.error);
      return reply.ok && reply.result.file ? read(reply.result.file.id, reply.result.file.name) : undefined;
    },
  };
}
