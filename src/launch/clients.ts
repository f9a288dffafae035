/** Commands that ask a running server for a model (`ollama run`): they name the model of the file's server. */
import type { Launch } from './launch';

/** A client stands for a server of its own where the file starts none, if it makes one load the model. */
export function serversOf(launches: readonly Launch[]): readonly Launch[] {
  if (!launches.some((l) => l.client)) {
    return launches;
  }
  const served = new Set(launches.filter((l) => !l.client).map((l) => l.engine));
  return launches.flatMap((launch) => {
    if (launch.client) {
      return launch.client === 'loads' && !served.has(launch.engine) ? [launch] : [];
    }
    const named = launches.find((l) => l.client && l.engine === launch.engine)?.model;
    return [launch.model || !named ? launch : { ...launch, model: named }];
  });
}
