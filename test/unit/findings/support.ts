/** Launches of one service, planned; fixes applied to their text. */
import type { Fix } from '../../../src/core/engines/engine';
import { editOption, type TextEdit } from '../../../src/launch/edit';
import { type Overrides, type PlacedFinding, type Plan, planText } from '../../../src/planner';

export interface Given {
  readonly version?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly flags?: Overrides;
  /** config.json by model id. */
  readonly configs?: Readonly<Record<string, unknown>>;
}

/** A compose file whose command lists one option a line. */
export function compose(args: readonly string[], { version = '0.28.0', environment }: Given = {}): string {
  const variables = Object.entries(environment ?? {}).map(([k, v]) => `      ${k}: "${v}"`);
  return [
    'services:',
    '  server:',
    `    image: vllm/vllm-openai:v${version}`,
    ...(variables.length > 0 ? ['    environment:', ...variables] : []),
    '    command:',
    ...args.map((a) => `      - '${a}'`),
    '',
  ].join('\n');
}

export function planOf(text: string, { flags, configs }: Given = {}): Plan {
  const models = {
    config: (id: string) => (configs && id in configs ? { json: configs[id], path: `${id}/config.json` } : undefined),
  };
  const [plan] = planText({ text, name: 'compose.yaml' }, { flags, models }).plans;
  if (!plan) {
    throw new Error('no launch');
  }
  return plan;
}

export const found = (plan: Plan, code: string): PlacedFinding | undefined =>
  plan.findings.find((f) => f.code === code);

export const apply = (text: string, edits: readonly TextEdit[]): string =>
  [...edits]
    .sort((a, b) => b.range.start - a.range.start)
    .reduce((t, e) => t.slice(0, e.range.start) + e.text + t.slice(e.range.end), text);

/** The text with a fix in it; the same text when it could not be made. */
export const withFix = (plan: Plan, text: string, { option, value }: Fix): string =>
  apply(text, editOption(plan.launch, text, option, value));

export const textAt = (text: string, { range }: PlacedFinding): string => text.slice(range.start, range.end);
