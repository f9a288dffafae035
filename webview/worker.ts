/** Scripts that run beside the page. A webview may not start a worker from its own address, so it is given the text. */

/** Rejects with words when the script cannot be loaded. `name` is a bundle of `dist/webview`, without its ending. */
export async function startWorker(name: string): Promise<Worker> {
  const response = await fetch(`${document.body.dataset.workers}/${name}.js`).catch((error: unknown) => error);
  if (!(response instanceof Response) || !response.ok) {
    throw new Error('A part of the dashboard could not be loaded. Closing it and opening it again may help.');
  }
  const address = URL.createObjectURL(new Blob([await response.text()], { type: 'text/javascript' }));
  try {
    return new Worker(address, { name });
  } finally {
    // The worker has begun to read it; a revoked address is still good for what has been asked.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}
