/** Plans of open documents: made once per version of a text, forgotten when what they rest on changes. */
import {
  Disposable,
  type Event,
  EventEmitter,
  type LogOutputChannel,
  type TextDocument,
  type Uri,
  workspace,
} from 'vscode';
import { launchAt } from '../launch/at';
import type { Overrides, Plan, PlanResult } from '../planner';
import { isSupported } from './documents';
import { createFiles } from './files';
import { createGgufHeads } from './gguf-heads';
import type { GrammarStore } from './grammars';
import { modelConfigs } from './model-configs';
import { assumed, SECTION } from './settings';
import { mayHoldLaunch } from './sniff';

export interface DocumentPlans extends Pick<PlanResult, 'plans' | 'problems'> {
  readonly document: TextDocument;
  readonly version: number;
  readonly text: string;
}

export interface Plans extends Disposable {
  /** Undefined where the text holds no launch. Never rejects. */
  of(document: TextDocument): Promise<DocumentPlans | undefined>;
  /** The same text planned with other flags; not kept. */
  whatIf(document: TextDocument, flags: Overrides): Promise<DocumentPlans | undefined>;
  /** A document's plans are out of date: it was opened or edited (after a pause in typing), or a setting changed. */
  readonly onDidChange: Event<TextDocument>;
  readonly onDidClose: Event<Uri>;
}

/** Long enough that a word is typed, short enough to feel at once. */
const PAUSE = 250;

/** A file may name a file that names a file; further than this nothing is followed. */
const ROUNDS = 5;

interface Entry {
  readonly version: number;
  readonly plans: Promise<DocumentPlans | undefined>;
}

export function createPlans(grammars: GrammarStore, log: LogOutputChannel): Plans {
  const entries = new Map<string, Entry>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const changed = new EventEmitter<TextDocument>();
  const closed = new EventEmitter<Uri>();

  const replanAll = (): void => {
    entries.clear();
    for (const document of workspace.textDocuments.filter(isSupported)) {
      changed.fire(document);
    }
  };
  let replanTimer: ReturnType<typeof setTimeout> | undefined;
  const files = createFiles(() => {
    clearTimeout(replanTimer);
    replanTimer = setTimeout(replanAll, PAUSE);
  });

  const heads = createGgufHeads();

  const make = async (document: TextDocument, flags?: Overrides): Promise<DocumentPlans | undefined> => {
    const version = document.version;
    const text = document.getText();
    if (!isSupported(document) || !mayHoldLaunch(text)) {
      return undefined;
    }
    const { planText } = await import('../lazy');
    const input = {
      text,
      name: workspace.asRelativePath(document.uri, false),
      files: files.sourceFor(document),
      grammars,
    };
    const settings = assumed(document);
    const plan = (): { result: PlanResult; wanted: readonly string[]; heads: readonly string[] } => {
      const models = modelConfigs(input.files, (name) => heads.read(document, name));
      const result = planText(input, { models, settings, ...(flags && { flags }) });
      return { result, wanted: [...result.needs.files, ...models.wanted()], heads: models.wantedHeads() };
    };
    let now = plan();
    const lacks = () => now.wanted.length + now.heads.length + now.result.needs.grammars.length > 0;
    for (let round = 0; round < ROUNDS && lacks(); round++) {
      await Promise.all([
        grammars.load(now.result.needs.grammars),
        files.fetch(document, now.wanted),
        heads.fetch(document, now.heads),
      ]);
      now = plan();
    }
    const { result } = now;
    const { plans, problems } = result;
    return plans.length + problems.length > 0 ? { document, version, text, plans, problems } : undefined;
  };

  const safely = (document: TextDocument, flags?: Overrides): Promise<DocumentPlans | undefined> =>
    make(document, flags).catch((error: unknown) => {
      log.error(
        `${document.uri.toString()}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      return undefined;
    });

  const announceLater = (document: TextDocument): void => {
    const key = document.uri.toString();
    clearTimeout(timers.get(key));
    timers.set(
      key,
      setTimeout(() => {
        timers.delete(key);
        if (!document.isClosed) {
          changed.fire(document);
        }
      }, PAUSE),
    );
  };

  const forget = (document: TextDocument): void => {
    const key = document.uri.toString();
    clearTimeout(timers.get(key));
    timers.delete(key);
    entries.delete(key);
    closed.fire(document.uri);
  };

  const listeners = Disposable.from(
    files,
    changed,
    closed,
    workspace.onDidOpenTextDocument((document) => isSupported(document) && changed.fire(document)),
    workspace.onDidChangeTextDocument(({ document }) => isSupported(document) && announceLater(document)),
    workspace.onDidCloseTextDocument(forget),
    workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && replanAll()),
  );

  return {
    of(document) {
      const key = document.uri.toString();
      const known = entries.get(key);
      if (known?.version === document.version) {
        return known.plans;
      }
      const plans = safely(document);
      if (!document.isClosed) {
        entries.set(key, { version: document.version, plans });
      }
      return plans;
    },
    whatIf: safely,
    onDidChange: changed.event,
    onDidClose: closed.event,
    dispose() {
      for (const timer of [replanTimer, ...timers.values()]) {
        clearTimeout(timer);
      }
      listeners.dispose();
    },
  };
}

/** The plan of the launch at an offset. */
export function planAt(plans: readonly Plan[], offset: number): Plan | undefined {
  const launches = plans.map((plan) => plan.launch);
  return plans[launchAt(launches, offset)];
}
