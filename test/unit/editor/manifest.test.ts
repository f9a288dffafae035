import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENGINES } from '../../../src/core/engines';
import { COMMANDS } from '../../../src/editor/command-names';
import { ENGINE_NAMES } from '../../../src/editor/engine-names.generated';
import { LANGUAGES, mayHoldLaunch } from '../../../src/editor/sniff';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json'));
const texts: Record<string, string> = JSON.parse(read('package.nls.json'));
const sources = readdirSync(new URL('../../../src/editor/', import.meta.url)).map((f) => read(`src/editor/${f}`));

const declared: string[] = manifest.contributes.configuration.flatMap((section: { properties: object }) =>
  Object.keys(section.properties),
);

describe('manifest', () => {
  it('has a text for every name it uses, and no other', () => {
    const used = [...JSON.stringify(manifest).matchAll(/"%([^%"]+)%"/g)].map((match) => match[1]);
    expect([...new Set(used)].sort()).toEqual(Object.keys(texts).sort());
  });

  it('says nothing to a person that is not in package.nls.json', () => {
    const told = [
      'title',
      'description',
      'markdownDescription',
      'contents',
      'altText',
      'displayName',
      'userDescription',
    ];
    const literal = (value: unknown, path: string): string[] => {
      if (typeof value !== 'object' || value === null) {
        const key = path.split('.').at(-1) ?? '';
        const isText = told.includes(key) || /(?:views\..*\.name|[dD]escriptions\.\d+|menus\..*\.title)$/.test(path);
        return isText && !/^%[\w.-]+%$/.test(String(value)) && value !== 'KV Planner' ? [`${path}: ${value}`] : [];
      }
      return Object.entries(value).flatMap(([key, inner]) => literal(inner, `${path}.${key}`));
    };
    const { languageModelTools = [], ...rest } = manifest.contributes;
    // What a model reads is no text for people, and is not translated.
    const tools = languageModelTools.map((tool: object) => ({
      ...tool,
      inputSchema: undefined,
      modelDescription: undefined,
    }));
    expect(literal({ ...rest, tools }, 'contributes')).toEqual([]);
  });

  it('declares the commands that exist', () => {
    const commands = manifest.contributes.commands.map((c: { command: string }) => c.command);
    expect(commands.sort()).toEqual(Object.values(COMMANDS).sort());
  });

  it('declares settings that are read, each with a text', () => {
    const all = sources.join('\n');
    for (const setting of declared) {
      const name = setting.replace('kvPlanner.', '');
      const surface = /^(\w+)\.enabled$/.exec(name)?.[1];
      expect(all, setting).toContain(surface ? `isEnabled('${surface}'` : `'${name}'`);
    }
    const read = [...all.matchAll(/isEnabled\('(\w+)'/g)].map((match) => `kvPlanner.${match[1]}.enabled`);
    const others = [...all.matchAll(/(?:settings|getConfiguration\([^)]*\))\.(?:get|update)(?:<[^>]*>)?\('([\w.]+)'/g)];
    expect(others.length).toBeGreaterThan(3);
    expect(declared).toEqual(expect.arrayContaining([...read, ...others.map((match) => `kvPlanner.${match[1]}`)]));
  });

  it('wakes the extension for the languages it looks at, and for its own panel', () => {
    const events = [...LANGUAGES, 'plaintext'].map((language) => `onLanguage:${language}`);
    expect(manifest.activationEvents).toEqual([...events, 'onWebviewPanel:kvPlanner.dashboard']);
  });

  it('links to no command but its own', () => {
    expect(sources.join('\n')).not.toMatch(/isTrusted = true/);
  });
});

describe('the look before anything is loaded', () => {
  const filesIn = (folder: string): string[] =>
    readdirSync(new URL(`../../../${folder}`, import.meta.url), {
      recursive: true,
      encoding: 'utf8',
      withFileTypes: true,
    })
      .filter((file) => file.isFile())
      .map((file) =>
        `${file.parentPath.replace(/^.*\/((?:samples|test)\b)/, '$1')}/${file.name}`.replaceAll('//', '/'),
      );
  const samples = filesIn('samples');
  /** Files that readers find a launch in. */
  const fixtures = filesIn('test/fixtures/launch')
    .filter((file) => file.endsWith('.expected') && /^== /m.test(read(file)))
    .map((file) => file.replace('.expected', ''));

  it('knows the names of all engines (node scripts/make-from-engines.mjs writes them)', () => {
    expect(ENGINE_NAMES).toEqual(ENGINES.flatMap((e) => e.start.names));
  });

  it.each([...samples, ...fixtures])('takes %s', (path) => expect(mayHoldLaunch(read(path), path)).toBe(true));

  it.each(ENGINES.flatMap((e) => [...e.start.commands.map((words) => words.join(' ')), ...e.start.modules]))(
    'takes what starts an engine: %s',
    (words) => expect(mayHoldLaunch(`exec ${words} --port 80`)).toBe(true),
  );

  it.each([
    ['a pipeline', 'name: CI\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n'],
    ['a deployment of something else', 'kind: Deployment\nspec:\n  containers:\n    - image: nginx:1.27\n'],
    ['nothing', ''],
  ])('leaves %s', (_, text) => expect(mayHoldLaunch(text)).toBe(false));
});

describe('what the manifest names', () => {
  const { contributes } = manifest;
  const names = (value: unknown): string[] =>
    [...JSON.stringify(value).matchAll(/"(?:\.\/)?(media\/[^"]+)"/g)].map((match) => match[1] ?? '');

  it('is shipped: icons, pictures, grammars', () => {
    const named = [...new Set(names(manifest))];
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((path) => read(path).length === 0)).toEqual([]);
  });

  it('exists: commands of menus, welcome views and the walkthrough', () => {
    const known = new Set(contributes.commands.map((c: { command: string }) => c.command));
    const inMenus = Object.values<{ command: string }[]>(contributes.menus).flat();
    const linked = [...JSON.stringify(texts).matchAll(/command:(kvPlanner\.\w+)/g)].map((match) => match[1] ?? '');
    const completing = [...JSON.stringify(contributes.walkthroughs).matchAll(/onCommand:(kvPlanner\.\w+)/g)];
    const used = [...inMenus.map((m) => m.command), ...linked, ...completing.map((match) => match[1] ?? '')];
    expect(linked.length).toBeGreaterThan(5);
    expect(used.filter((name) => name.startsWith('kvPlanner.') && !known.has(name))).toEqual([]);
  });

  it('is honest: the network setting is off, and restricted where the folder is not trusted', () => {
    const settings = Object.assign({}, ...contributes.configuration.map((c: { properties: object }) => c.properties));
    expect(settings['kvPlanner.fetchModelFacts'].default).toBe(false);
    expect(manifest.capabilities.untrustedWorkspaces).toMatchObject({
      supported: 'limited',
      restrictedConfigurations: ['kvPlanner.fetchModelFacts'],
    });
  });

  it('gives every tool words for the model and for the user, and a closed schema', () => {
    for (const tool of contributes.languageModelTools) {
      expect(tool.modelDescription.length).toBeGreaterThan(80);
      expect(tool).toMatchObject({ canBeReferencedInPrompt: true, inputSchema: { additionalProperties: false } });
    }
  });
});
