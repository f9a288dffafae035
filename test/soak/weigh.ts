/** What a page and its workers hold once their garbage has been collected. */
import type { CDPSession, Page } from 'playwright-core';

export interface Weight {
  /** Bytes of the page's heap, with all frames that share its process. */
  readonly heap: number;
  readonly documents: number;
  readonly listeners: number;
  readonly nodes: number;
  /** Bytes of each worker, its arrays included, by the name it was started under. */
  readonly workers: ReadonlyMap<string, number>;
}

export interface Scale {
  weigh(): Promise<Weight>;
  /** The names of the workers that are alive. */
  workers(): readonly string[];
}

/** Before the page starts its workers: only those that start from now on are weighed. */
export async function scaleOf(page: Page): Promise<Scale> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const workers = await listenToWorkers(session);
  const weigh = async (): Promise<Weight> => {
    await collect((method) => session.send(method));
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
    const held = new Map<string, number>();
    for (const { name, ask } of workers.values()) {
      await collect(ask);
      const { usedSize, backingStorageSize } = await ask('Runtime.getHeapUsage');
      held.set(name, (held.get(name) ?? 0) + Number(usedSize ?? 0) + Number(backingStorageSize ?? 0));
    }
    return {
      heap: of('JSHeapUsedSize'),
      documents: of('Documents'),
      listeners: of('JSEventListeners'),
      nodes: of('Nodes'),
      workers: held,
    };
  };
  return { weigh, workers: () => [...workers.values()].map(({ name }) => name) };
}

/** Twice: what finalisers let go is collected the second time. */
export async function collect(ask: (method: 'HeapProfiler.collectGarbage') => Promise<unknown>): Promise<void> {
  await ask('HeapProfiler.collectGarbage');
  await ask('HeapProfiler.collectGarbage');
}

interface Attached {
  readonly name: string;
  ask(method: string): Promise<Record<string, unknown>>;
}

async function listenToWorkers(session: CDPSession): Promise<ReadonlyMap<string, Attached>> {
  const attached = new Map<string, Attached>();
  const waiting = new Map<number, { sessionId: string; resolve(result: Record<string, unknown>): void }>();
  let last = 0;
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    if (targetInfo.type !== 'worker') {
      return; // a service worker sleeps, and answers nothing while it does
    }
    const ask = (method: string) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        const id = ++last;
        waiting.set(id, { sessionId, resolve });
        session
          .send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method }) })
          .catch(reject);
      });
    attached.set(sessionId, { name: targetInfo.title, ask });
  });
  session.on('Target.detachedFromTarget', ({ sessionId }) => {
    attached.delete(sessionId);
    for (const asked of [...waiting.values()].filter((asked) => asked.sessionId === sessionId)) {
      asked.resolve({}); // it ended before it answered
    }
  });
  session.on('Target.receivedMessageFromTarget', ({ message }) => {
    const { id, result } = JSON.parse(message);
    waiting.get(id)?.resolve(result ?? {});
    waiting.delete(id);
  });
  await session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false });
  return attached;
}

export const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

export function inWords({ heap, documents, listeners, nodes, workers }: Weight): string {
  const held = [...workers].map(([name, bytes]) => `, ${name} ${mib(bytes)} MiB`).join('');
  return `${mib(heap)} MiB, ${documents} documents, ${listeners} listeners, ${nodes} nodes${held}`;
}
