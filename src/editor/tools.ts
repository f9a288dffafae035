/** What agents in the editor can ask: plans, solutions and findings, made by the same core as everything shown. */

import * as v from 'valibot';
import {
  CancellationError,
  type CancellationToken,
  Disposable,
  LanguageModelTextPart,
  type LanguageModelTool,
  LanguageModelToolResult,
  l10n,
  lm,
  MarkdownString,
  Uri,
  workspace,
} from 'vscode';
import type { Overrides } from '../planner';
import { code } from './markdown';
import { breathe } from './patience';
import type { Planned, Source } from './planning';
import type { Plans } from './plans';

const text = v.pipe(v.string(), v.maxLength(200_000));
const word = v.pipe(v.string(), v.maxLength(200));
const count = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000_000));

/** Where a launch stands, and what the file does not say. The schemas in the manifest tell the model the same. */
const LAUNCH = {
  file: v.optional(word),
  text: v.optional(text),
  gpu: v.optional(word),
  gpus: v.optional(count),
  engine: v.optional(word),
  model: v.optional(word),
  prompt: v.optional(count),
  output: v.optional(count),
};
const PLAN = v.object(LAUNCH);
const SOLVE = v.object({ ...LAUNCH, concurrency: count, length: v.optional(count) });
const EXPLAIN = v.object({ ...LAUNCH, code: v.optional(word) });

type LaunchAsked = v.InferOutput<typeof PLAN>;

const TOOLS = {
  plan: 'kvPlanner_planLaunch',
  solve: 'kvPlanner_solveForTarget',
  explain: 'kvPlanner_explainFinding',
} as const;

export function registerTools(plans: Plans): Disposable {
  return Disposable.from(
    lm.registerTool(
      TOOLS.plan,
      tool(PLAN, l10n.t('Planning {0}'), async (asked, token) => {
        const { reportMarkdown, reportOf } = await import('../lazy');
        const { source, made } = await read(asked, plans, token);
        return reportMarkdown(reportOf([{ name: source.name, text: made.input.text, result: made.result }]));
      }),
    ),
    lm.registerTool(
      TOOLS.solve,
      tool(SOLVE, l10n.t('Solving for a target in {0}'), async (asked, token) => {
        const { reportMarkdown, solveOne, solveReport } = await import('../lazy');
        const { source, made } = await read(asked, plans, token);
        const target = { concurrency: asked.concurrency, length: asked.length };
        const solved = [];
        for (const at of made.result.plans.keys()) {
          const one = await solveOne(target, made.input, made.context, at, () => breathe(token));
          solved.push(...one.solved);
        }
        const file = { name: source.name, text: made.input.text, result: made.result, solved };
        return reportMarkdown(solveReport([file]));
      }),
    ),
    lm.registerTool(
      TOOLS.explain,
      tool(EXPLAIN, l10n.t('Explaining the findings of {0}'), async (asked, token) => {
        const { findingsReport, reportMarkdown } = await import('../lazy');
        const { source, made } = await read(asked, plans, token);
        const file = { name: source.name, text: made.input.text, result: made.result };
        return reportMarkdown(findingsReport(file, asked.code));
      }),
    ),
  );
}

/** One way for all: what the model sends is checked, the user sees what is read, and a failure is told in words. */
function tool<T extends LaunchAsked>(
  schema: v.GenericSchema<unknown, T>,
  doing: string,
  answer: (asked: T, token: CancellationToken) => Promise<string>,
): LanguageModelTool<T> {
  return {
    prepareInvocation({ input }) {
      const what = subject(input);
      return {
        invocationMessage: new MarkdownString(doing.replace('{0}', () => what)),
        confirmationMessages: {
          title: l10n.t('Plan with KV Planner'),
          message: new MarkdownString(
            l10n.t('Reads {0} as text and works out its KV cache. Nothing is run, sent or changed.', what),
          ),
        },
      };
    },
    async invoke({ input }, token) {
      const asked = v.safeParse(schema, input);
      if (!asked.success) {
        throw new Error(`The input was not understood:\n${v.summarize(asked.issues)}`);
      }
      return new LanguageModelToolResult([new LanguageModelTextPart(await answer(asked.output, token))]);
    },
  };
}

/** What is read: a given text goes before a file. */
const subject = (input: { file?: unknown; text?: unknown } | undefined): string =>
  typeof input?.file === 'string' && input.text === undefined ? code(input.file) : l10n.t('the given text');

async function read(
  asked: LaunchAsked,
  plans: Plans,
  token: CancellationToken,
): Promise<{ readonly source: Source; readonly made: Planned }> {
  const source = asked.text === undefined ? await fileOf(asked.file) : pasted(asked.text, asked.file);
  const { pastedText } = await import('../lazy');
  const flags = flagsOf(asked);
  const made =
    (await plans.plan(source, flags)) ??
    (asked.text === undefined ? undefined : await plans.plan({ ...source, text: pastedText(asked.text) }, flags));
  if (token.isCancellationRequested) {
    throw new CancellationError();
  }
  if (!made || made.result.plans.length === 0) {
    const problems = made?.result.problems.map((p) => p.message).join('; ');
    throw new Error(`No launch of a known LLM engine was found in ${source.name}${problems ? `: ${problems}` : ''}.`);
  }
  return { source, made };
}

function flagsOf({ gpu, gpus, engine, model, prompt, output }: LaunchAsked): Overrides {
  const flags: Record<string, string> = {};
  for (const [key, value] of Object.entries({ gpu, gpus, engine, model, prompt, output })) {
    if (value !== undefined) {
      flags[key] = String(value);
    }
  }
  return flags;
}

/** Only files of the opened folders: an agent gets no further than its user's workspace. */
async function fileOf(file: string | undefined): Promise<Source> {
  if (!file) {
    throw new Error('Say which file (`file`), or give the launch itself (`text`).');
  }
  const uri = inWorkspace(file);
  if (!uri) {
    throw new Error(`${file} is not in an opened folder.`);
  }
  const document = await workspace.openTextDocument(uri);
  return { uri, text: document.getText(), name: workspace.asRelativePath(uri, false) };
}

function inWorkspace(file: string): Uri | undefined {
  const folders = workspace.workspaceFolders ?? [];
  const candidates = file.includes('://')
    ? [Uri.parse(file, true)]
    : folders.map(({ uri }) =>
        /^(?:\/|[A-Za-z]:[\\/])/.test(file) ? uri.with({ path: Uri.file(file).path }) : Uri.joinPath(uri, file),
      );
  return candidates.find((uri) => workspace.getWorkspaceFolder(uri) !== undefined);
}

function pasted(given: string, name: string | undefined): Source {
  const folder = workspace.workspaceFolders?.[0]?.uri ?? Uri.parse('untitled:/');
  return { uri: Uri.joinPath(folder, 'pasted'), text: given, name: name ?? 'pasted' };
}
