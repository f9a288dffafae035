/** From any text to its plans: what the launches name is fetched round by round, until nothing more is missing. */
import { type TextDocument, type Uri, workspace } from 'vscode';
import type { Form, ReadInput } from '../launch/launch';
import type { Overrides, PlanContext, PlanResult } from '../planner';
import type { Files } from './files';
import { createGgufHeads } from './gguf-heads';
import type { GrammarStore } from './grammars';
import { modelConfigs } from './model-configs';
import type { ModelFacts } from './model-facts';
import { assumed } from './settings';
import { formOf, mayHoldLaunch } from './sniff';
import { unhurried } from './unhurried';

/** A text, and where it stands: files that it names are looked for from there. */
export interface Source {
  readonly uri: Uri;
  readonly text: string;
  /** Its ending decides how it is read; shown as the launch's file. */
  readonly name: string;
  /** Given where its name says nothing. */
  readonly form?: Form;
}

export function sourceOf(document: TextDocument): Source {
  const { uri, languageId } = document;
  const name = workspace.asRelativePath(uri, false);
  const form = formOf(uri.scheme, name, languageId);
  return { uri, text: document.getText(), name, ...(form && { form }) };
}

/** The plans of a text, and what it takes to plan it again. */
export interface Planned {
  readonly input: ReadInput;
  readonly context: PlanContext;
  readonly result: PlanResult;
}

export interface Planning {
  /** Undefined where the text holds no launch, and nothing that looks like one. */
  plan(source: Source, flags?: Overrides): Promise<Planned | undefined>;
}

/** A file may name a file that names a file; further than this nothing is followed. */
const ROUNDS = 5;

export function createPlanning(grammars: GrammarStore, files: Files, facts: ModelFacts): Planning {
  const heads = createGgufHeads();
  return {
    async plan({ uri, text, name, form }, flags) {
      if (!mayHoldLaunch(text, name)) {
        return undefined;
      }
      const { planSteps } = await import('../lazy');
      const input: ReadInput = { text, name, ...(form && { form }), files: files.sourceFor(uri), grammars };
      const settings = assumed(uri);
      const round = async () => {
        const models = modelConfigs(files.sourceFor(uri), (head) => heads.read(uri, head), facts.read);
        const context: PlanContext = { models, settings, ...(flags && { flags }) };
        const result = await unhurried(planSteps(input, context));
        return {
          context,
          result,
          wanted: [...result.needs.files, ...models.wanted()],
          heads: models.wantedHeads(),
          models: models.wantedFacts(),
        };
      };
      let now = await round();
      const lacks = () =>
        now.wanted.length + now.heads.length + now.models.length + now.result.needs.grammars.length > 0;
      for (let rounds = 0; rounds < ROUNDS && lacks(); rounds++) {
        await Promise.all([
          grammars.load(now.result.needs.grammars),
          files.fetch(uri, now.wanted),
          heads.fetch(uri, now.heads),
          facts.look(now.models),
        ]);
        now = await round();
      }
      const { context, result } = now;
      return result.plans.length + result.problems.length > 0 ? { input, context, result } : undefined;
    },
  };
}
