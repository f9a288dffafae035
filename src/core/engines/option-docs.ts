/** The documentation page of an engine's options, made from their table. */
import type { OptionSpec } from './option';
import { defaultsText, takesText, versionsText } from './option-text';

export interface DocsInput {
  /** Name of the engine: `vLLM`. */
  readonly engine: string;
  readonly options: readonly OptionSpec[];
  /** Environment variables without an option of their own. */
  readonly environment: readonly OptionSpec[];
}

/** Markdown with a final line end. */
export function optionDocs({ engine, options, environment }: DocsInput): string {
  const acting = options.filter((o) => o.effect !== undefined);
  const others = options.filter((o) => o.effect === undefined);
  return [
    `# ${engine}: options`,
    '<!-- Made by scripts/make-from-engines.mjs from the option table. Change the table. -->',
    `What KV Planner knows of ${engine}’s ${options.length} options: ${acting.length} that act on the KV cache or on how many requests run, and ${others.length} that it reads and leaves alone. “Gone in” names the first version that no longer takes an option.`,
    '## Options that act on the KV cache',
    table(acting, flagText, actingText),
    ...(environment.length === 0
      ? []
      : ['## Environment variables', table(environment, (v) => code(v.name), actingText)]),
    '## Other options',
    table(others, flagText, (o) => o.summary),
    '## Sources',
    sources([...options, ...environment], engine),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

function table(rows: readonly OptionSpec[], name: (o: OptionSpec) => string, about: (o: OptionSpec) => string): string {
  const lines = rows.map(
    (o) => `| ${[name(o), takesText(o), defaultsText(o), versionsText(o), about(o)].map(cell).join(' | ')} |`,
  );
  return ['| option | takes | default | versions | what it is |', '| --- | --- | --- | --- | --- |', ...lines].join(
    '\n',
  );
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const code = (text: string): string => `\`${text}\``;

const flagText = (o: OptionSpec): string =>
  [o.name, ...(o.aliases ?? [])]
    .map(longText)
    .concat(o.short ?? [], o.env === undefined || o.env === o.name ? [] : [o.env])
    .map(code)
    .join(' ');

/** Keys of a file's section and variables are no flags. */
const longText = (name: string): string => (name.includes('.') || name === name.toUpperCase() ? name : `--${name}`);

const actingText = (o: OptionSpec): string => [o.summary, `**KV cache:** ${o.effect}`].join(' ');

/** Every file once, with the versions it was read at. */
function sources(rows: readonly OptionSpec[], engine: string): string {
  const files = [...new Set(rows.map((o) => o.source))].sort();
  return [`Files of the ${engine} package, and the version each was read at:`, '', ...files.map((f) => `- ${f}`)].join(
    '\n',
  );
}
