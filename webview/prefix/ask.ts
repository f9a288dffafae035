/** Questions to the worker, one after the other: a newer one takes the place of those nobody waits for any more. */
import { startWorker } from '../worker';
import type { Question, Reply, ReplyTo } from './messages';

export interface Asker {
  /** Rejects with words. Resolves with nothing when a newer question of the same kind was asked meanwhile. */
  ask<Q extends Question>(question: Q, onShare?: (share: number) => void): Promise<ReplyTo<Q> | undefined>;
  /** Ends the worker; the next question starts another. */
  stop(): void;
}

interface Waiting {
  readonly kind: Question['kind'];
  settle(reply: Reply | undefined): void;
  onShare?(share: number): void;
}

export function createAsker(): Asker {
  let starting: Promise<Worker> | undefined;
  let last = 0;
  const waiting = new Map<number, Waiting>();

  const begin = async (): Promise<Worker> => {
    const worker = await startWorker('prefix-worker');
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      const one = waiting.get(data.id);
      if ('share' in data) {
        one?.onShare?.(data.share);
      } else {
        one?.settle(data);
      }
    };
    worker.onerror = ({ message }) => {
      for (const [id, one] of waiting) {
        one.settle({ id, error: message || 'The calculation broke off.' });
      }
    };
    return worker;
  };

  return {
    async ask<Q extends Question>(question: Q, onShare?: (share: number) => void) {
      starting ??= begin();
      const worker = await starting.catch((error: unknown) => {
        starting = undefined;
        throw error;
      });
      const id = ++last;
      for (const one of [...waiting.values()].filter(({ kind }) => kind === question.kind)) {
        one.settle(undefined);
      }
      const reply = await new Promise<Reply | undefined>((resolve) => {
        const settle = (answer: Reply | undefined): void => {
          waiting.delete(id);
          resolve(answer);
        };
        waiting.set(id, { kind: question.kind, settle, onShare });
        worker.postMessage({ ...question, id });
      });
      if (reply && 'error' in reply) {
        throw new Error(reply.error);
      }
      return (reply && 'answer' in reply ? reply.answer : undefined) as ReplyTo<Q> | undefined;
    },
    stop() {
      void starting?.then((worker) => worker.terminate());
      starting = undefined;
      for (const one of [...waiting.values()]) {
        one.settle(undefined);
      }
    },
  };
}
