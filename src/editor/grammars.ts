/** Grammars from the extension's own folder, loaded when the first text needs one: the same way in every host. */
import { type LogOutputChannel, Uri, workspace } from 'vscode';
import type { GrammarName, Grammars } from '../launch/launch';

export interface GrammarStore extends Grammars {
  /** A grammar that cannot be loaded stays unknown, and the log says why. */
  load(names: readonly GrammarName[]): Promise<void>;
}

export function createGrammars(extension: Uri, log: LogOutputChannel): GrammarStore {
  const known = new Map<GrammarName, Grammars>();
  const loads = new Map<GrammarName, Promise<void>>();
  const locate = async (file: string): Promise<Uint8Array> =>
    workspace.fs.readFile(Uri.joinPath(extension, 'dist', file));

  const loadOne = async (name: GrammarName): Promise<void> => {
    try {
      const { loadGrammars } = await import('../lazy');
      known.set(name, await loadGrammars([name], locate));
    } catch (error) {
      log.error(`The grammar ${name} could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  return {
    get: (name) => known.get(name)?.get(name),
    async load(names) {
      await Promise.all(
        names.map((name) => {
          const load = loads.get(name) ?? loadOne(name);
          loads.set(name, load);
          return load;
        }),
      );
    },
  };
}
