/** Work that may take long: after half a second its progress is shown, and it can be cancelled. */
import { CancellationError, type CancellationToken, CancellationTokenSource, ProgressLocation, window } from 'vscode';
import { plain } from './markdown';

const PATIENCE = 500;

/** Says how far it is, 0…1, and on what. */
export type Report = (share: number, message?: string) => void;

/** Undefined when the user cancelled it. */
export async function patiently<T>(
  title: string,
  work: (token: CancellationToken, report: Report) => Promise<T>,
  signal?: CancellationToken,
): Promise<T | undefined> {
  const source = new CancellationTokenSource();
  const linked = signal?.onCancellationRequested(() => source.cancel());
  let last = { share: 0, message: undefined as string | undefined };
  let show = (): void => {};
  const running = work(source.token, (share, message) => {
    last = { share, message };
    show();
  });
  try {
    if (!(await doneWithin(running, PATIENCE))) {
      await window.withProgress(
        { location: ProgressLocation.Notification, title: plain(title), cancellable: true },
        async (progress, token) => {
          token.onCancellationRequested(() => source.cancel());
          let shown = 0;
          show = () => {
            progress.report({ message: last.message, increment: 100 * (last.share - shown) });
            shown = last.share;
          };
          show();
          await running;
        },
      );
    }
    const result = await running;
    return source.token.isCancellationRequested ? undefined : result;
  } catch (error) {
    if (error instanceof CancellationError || source.token.isCancellationRequested) {
      return undefined;
    }
    throw error;
  } finally {
    linked?.dispose();
    source.dispose();
  }
}

async function doneWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const done = work.then(
    () => true,
    () => true,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}

/** Lets the editor breathe, and stops where the user has cancelled. */
export async function breathe(token: CancellationToken): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (token.isCancellationRequested) {
    throw new CancellationError();
  }
}
