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
import type { ReadInput } from '../launch/launch';
import type { Overrides, Plan, PlanContext, PlanResult } from '../planner';
import type { TryOptions } from '../planner/alternatives';
import { isSupported } from './documents';
import { createFiles } from './files';
import type { GrammarStore } from './grammars';
import type { ModelFacts } from './model-facts';
import { createPlanning, type Planned, type Source, sourceOf } from './planning';
import { SECTION } from './settings';

export interface DocumentPlans extends Pick<PlanResult, 'plans' | 'problems'> {
  readonly document: TextDocument;
  readonly version: number;
  readonly text: string;
  /** What it takes to plan the text again, all that it names at hand. */
  readonly input: ReadInput;
  readonly context: PlanContext;
  /** Plans one of these launches with other values of options. */
  readonly tryOptions: TryOptions;
}

export interface Plans extends Disposable {
  /** Undefined where the text holds no launch. Never rejects. */
  of(document: TextDocument): Promise<DocumentPlans | undefined>;
  /** The same once typing pauses: for what is shown without being asked for. */
  calm(document: TextDocument): Promise<DocumentPlans | undefined>;
  /** Whether typing has paused since the last edit. */
  isCalm(document: TextDocument): boolean;
  /** Any text, open in an editor or not, with what it takes to plan it again. May reject. */
  plan(source: Source, flags?: Overrides): Promise<Planned | undefined>;
  /** A document's plans are out of date: it was opened or edited (after a pause in typing), or a setting changed. */
  readonly onDidChange: Event<TextDocument>;
  readonly onDidClose: Event<Uri>;
}

/** Long enough that a word is typed, short enough to feel at once. */
const PAUSE = 250;

interface Entry {
  readonly version: number;
  readonly plans: Promise<DocumentPlans | undefined>;
}

export function createPlans(grammars: GrammarStore, facts: ModelFacts, log: LogOutputChannel): Plans {
  const entries = new Map<string, Entry>();
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  /** What waits for a pause in typing. */
  const waiting = new Map<string, (() => void)[]>();
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

  const planning = createPlanning(grammars, files, facts);

  const make = async (document: TextDocument): Promise<DocumentPlans | undefined> => {
    const { version } = document;
    const planned = isSupported(document) ? await planning.plan(sourceOf(document)) : undefined;
    if (!planned) {
      return undefined;
    }
    const { tryingOn } = await import('../lazy');
    const { input, context, result } = planned;
    const { plans, problems } = result;
    const { text } = input;
    return { document, version, text, input, context, plans, problems, tryOptions: tryingOn(text, context) };
  };

  const safely = (document: TextDocument): Promise<DocumentPlans | undefined> =>
    make(document).catch((error: unknown) => {
      log.error(
        `${document.uri.toString()}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
      return undefined;
    });

  const wake = (key: string): void => {
    for (const go of waiting.get(key)?.splice(0) ?? []) {
      go();
    }
    waiting.delete(key);
  };

  const announceLater = (document: TextDocument): void => {
    const key = document.uri.toString();
    clearTimeout(timers.get(key));
    timers.set(
      key,
      setTimeout(() => {
        timers.delete(key);
        wake(key);
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
    wake(key);
    entries.delete(key);
    closed.fire(document.uri);
  };

  const listeners = Disposable.from(
    files,
    facts.onDidChange(replanAll),
    changed,
    closed,
    workspace.onDidOpenTextDocument((document) => isSupported(document) && changed.fire(document)),
    workspace.onDidChangeTextDocument(({ document }) => isSupported(document) && announceLater(document)),
    workspace.onDidCloseTextDocument(forget),
    workspace.onDidChangeConfiguration((event) => event.affectsConfiguration(SECTION) && replanAll()),
  );

  const of = (document: TextDocument): Promise<DocumentPlans | undefined> => {
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
  };

  const isCalm = (document: TextDocument): boolean => !timers.has(document.uri.toString());

  return {
    of,
    isCalm,
    async calm(document) {
      const key = document.uri.toString();
      if (!isCalm(document)) {
        await new Promise<void>((resolve) => waiting.set(key, [...(waiting.get(key) ?? []), resolve]));
      }
      return of(document);
    },
    plan: planning.plan,
    onDidChange: changed.event,
    onDidClose: closed.event,
    dispose() {
      for (const timer of [replanTimer, ...timers.values()]) {
        clearTimeout(timer);
      }
      for (const key of waiting.keys()) {
        wake(key);
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
