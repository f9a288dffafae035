/**
 * Facts of models that the catalogue does not know: from the Hugging Face cache, from what was fetched before, and from the
 * Hub itself only when the user asks or has turned the setting on. In a folder without trust only what was fetched before.
 */
import {
  type CancellationToken,
  Disposable,
  type Event,
  EventEmitter,
  type ExtensionContext,
  type LogOutputChannel,
  workspace,
} from 'vscode';
import { type HubName, hubName } from '../core/model/hub-names';
import type { ModelFacts as Facts } from '../planner';
import { createFactsStore } from './facts-store';
import { cachedFacts, environment } from './hub-cache';
import { recent } from './recent';
import { mayFetch } from './settings';

export interface ModelFacts extends Disposable {
  /** Null when there are none; undefined when they have not been looked for. */
  read(model: string): Facts | null | undefined;
  /** Looks on this machine; asks the Hub behind the reader's back where the setting allows it. */
  look(models: readonly string[]): Promise<void>;
  /** Asks the Hub. Throws `HubError`. */
  fetch(model: HubName, token?: CancellationToken): Promise<Facts>;
  setToken(token: string | undefined): Promise<void>;
  /** What was not known is known now. */
  readonly onDidChange: Event<void>;
}

/** A model may be downloaded meanwhile. */
const LOOK_AGAIN = 30_000;

/** Names that are typed letter by letter are each looked for. Far more than one text names. */
const MOST = 2000;

const HUB = 'https://huggingface.co';
const SECRET = 'huggingface.token';

export function createModelFacts(context: ExtensionContext, log: LogOutputChannel): ModelFacts {
  const store = createFactsStore(context.globalStorageUri);
  const known = recent<{ readonly facts: Facts | null; readonly until: number }>(Number.POSITIVE_INFINITY, MOST);
  const asked = new Set<string>();
  const changed = new EventEmitter<void>();

  const put = (key: string, facts: Facts | undefined): void => {
    known.set(key, { facts: facts ?? null, until: facts ? Number.POSITIVE_INFINITY : Date.now() + LOOK_AGAIN });
  };

  const fetchNow = async (name: HubName, token?: CancellationToken): Promise<Facts> => {
    const { fetchFacts } = await import('../lazy');
    const abort = new AbortController();
    const listener = token?.onCancellationRequested(() => abort.abort());
    try {
      const facts = await fetchFacts(name, { ...(await access(context)), signal: abort.signal });
      await store.write(name, facts);
      put(keyOf(name), facts);
      changed.fire();
      return facts;
    } finally {
      listener?.dispose();
    }
  };

  /** Once a session: a model that the Hub does not give is not asked for at every key. */
  const fetchLater = (name: HubName): void => {
    const key = keyOf(name);
    if (!asked.has(key)) {
      asked.add(key);
      fetchNow(name).catch((error: Error) => log.info(`Facts of ${key} were not fetched: ${error.message}`));
    }
  };

  const trust = workspace.onDidGrantWorkspaceTrust(() => {
    known.clear();
    changed.fire();
  });

  return {
    read(model) {
      const name = hubName(model);
      if (!name) {
        return null;
      }
      const entry = known.get(keyOf(name));
      const mayKnowMore = workspace.isTrusted && mayFetch() && !asked.has(keyOf(name));
      return entry && (entry.facts || (entry.until > Date.now() && !mayKnowMore)) ? entry.facts : undefined;
    },
    async look(models) {
      for (const name of models.map(hubName).filter((n) => n !== undefined)) {
        const facts = (workspace.isTrusted ? await cachedFacts(name) : undefined) ?? (await store.read(name));
        put(keyOf(name), facts);
        if (!facts && workspace.isTrusted && mayFetch()) {
          fetchLater(name);
        }
      }
    },
    fetch: fetchNow,
    async setToken(token) {
      await (token === undefined ? context.secrets.delete(SECRET) : context.secrets.store(SECRET, token));
      asked.clear();
    },
    onDidChange: changed.event,
    dispose: () => Disposable.from(changed, trust).dispose(),
  };
}

const keyOf = ({ repo, tag }: HubName): string => (tag === undefined ? repo : `${repo}:${tag}`);

/** The environment's own token wins, as in huggingface_hub; neither is ever logged. */
async function access(context: ExtensionContext): Promise<{ endpoint: string; token?: string }> {
  const env = environment();
  const token = env.HF_TOKEN || env.HUGGING_FACE_HUB_TOKEN || (await context.secrets.get(SECRET));
  // A token that is meant for an address that cannot be read goes to no other.
  const isMeant = !env.HF_ENDPOINT || addressOf(env.HF_ENDPOINT) !== undefined;
  return { endpoint: endpointOf(env.HF_ENDPOINT), ...(token && isMeant && { token: token.trim() }) };
}

/** Where the Hub is. Exported for what names it to the user. */
export const endpointOf = (written = environment().HF_ENDPOINT): string => addressOf(written || HUB) ?? HUB;

function addressOf(written: string): string | undefined {
  try {
    const url = new URL(written);
    return /^https?:$/.test(url.protocol) ? url.href.replace(/\/+$/, '') : undefined;
  } catch {
    return undefined;
  }
}
