/**
 * Pipelines: GitHub Actions, GitLab CI, Azure, CircleCI, Buildkite, Bitbucket. Their steps are scripts in the shell of
 * the job, with the variables of the steps, jobs and file around them.
 */
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { Reading } from '../reading';
import { readScripts } from '../shell/script';
import { type Mapped, refilled } from '../text/mapped';
import { readImage } from '../words/image';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { type Site, sitesIn, type Walk } from '../yaml/sites';
import { entries, get, items, scalarAt, textAt } from '../yaml/view';
import { asDocker, readContainer } from './container';
import type { YamlForm } from './form';

export const ci: YamlForm = {
  kind: 'yaml',
  form: 'ci',
  names:
    /(?:^|[\\/])\.(?:github[\\/](?:workflows|actions)|circleci|buildkite|gitlab)[\\/].*\.ya?ml$|(?:^|[\\/])(?:\.gitlab-ci|azure-pipelines|bitbucket-pipelines)[\w.-]*\.ya?ml$/i,
  recognises: (keys, reading) =>
    reading.input.form === 'ci' ||
    (keys.has('jobs') && (keys.has('on') || keys.has('workflows') || keys.has('trigger'))) ||
    (keys.has('runs') && keys.has('inputs')) ||
    (keys.has('steps') && !keys.has('apiVersion') && !keys.has('services')) ||
    (keys.has('stages') && !keys.has('apiVersion') && !keys.has('services')),
  read: (doc, reading) => {
    for (const site of sitesIn(doc, doc.root, STEPS)) {
      readStep(doc, reading, site);
    }
  },
};

const SCRIPTS = ['before_script', 'script', 'run', 'bash', 'command', 'commands'];

/** A map with a script; a container beside the job. */
const STEPS: Walk = {
  wanted: (_key, node) =>
    SCRIPTS.some((k) => node.has(k) && !isMap(node.get(k))) || (node.has('image') && isService(node)),
  skipped: (key) => /^(?:with|inputs|outputs|artifacts|cache|only|except|rules|needs|strategy|matrix)$/.test(key),
};

const isService = (node: YAMLMap): boolean => node.has('ports') || node.has('options') || node.has('credentials');

function readStep(doc: YamlDocument, reading: Reading, site: Site): void {
  const { node } = site;
  if (isService(node) && node.has('image')) {
    service(doc, reading, site);
    return;
  }
  if (/^(?:python|pwsh|powershell|cmd|node)/.test(textAt(doc, node, 'shell') ?? '')) {
    return;
  }
  const environment = environmentOf(doc, site);
  const fill = filler(doc, site, environment);
  const scripts = SCRIPTS.flatMap((k) => linesOf(doc, get(doc, node, k))).map((m) => refilled(m, fill));
  const image = [node, ...site.around].map((m) => imageOf(doc, m)).find((i) => i !== undefined);
  const known = image && readImage(image, reading.engines);
  const around = { environment, hardware: {}, ...(known ? { image: known } : {}) };
  const title =
    textAt(doc, node, 'name') ??
    textAt(doc, node, 'displayName') ??
    textAt(doc, node, 'label') ??
    site.keys.find((k) => !STEP_LISTS.test(k)) ??
    'step';
  readScripts(reading, scripts, around, { form: 'ci', title });
  for (const item of items(doc, get(doc, node, 'services'))) {
    if (isMap(item)) {
      service(doc, reading, { node: item, keys: ['services', ...site.keys], around: [node, ...site.around] });
    }
  }
}

const STEP_LISTS = /^(?:stages|steps|step|run|runs|script|jobs|pipelines|default|)$/;

/** A string, or a list of lines that may hold lists themselves. */
function linesOf(doc: YamlDocument, node: Node | null, depth = 0): readonly Mapped[] {
  if (isSeq(node) && depth < 5) {
    return items(doc, node).flatMap((i) => linesOf(doc, i, depth + 1));
  }
  const text = isScalar(node) ? scalarAt(doc, node) : undefined;
  return text ? [text] : [];
}

/** `image: x`, `container: x`, `{name: x}`, `{image: x}`. */
function imageOf(doc: YamlDocument, map: YAMLMap): Mapped | undefined {
  return ['image', 'container'].map((k) => imageAt(doc, get(doc, map, k))).find((i) => i !== undefined);
}

const imageAt = (doc: YamlDocument, node: Node | null): Mapped | undefined =>
  isMap(node) ? (scalarAt(doc, get(doc, node, 'image')) ?? scalarAt(doc, get(doc, node, 'name'))) : scalarAt(doc, node);

/** A container beside the job: its `command` are words for the image. */
function service(doc: YamlDocument, reading: Reading, site: Site): void {
  const { node } = site;
  const image = scalarAt(doc, get(doc, node, 'image')) ?? scalarAt(doc, get(doc, node, 'name'));
  if (image && readImage(image, reading.engines)) {
    const title = textAt(doc, node, 'alias') ?? site.keys[0] ?? 'service';
    const words = get(doc, node, 'command');
    const place = { doc, reading, form: 'ci' as const, title, image, whole: node, hardware: {} };
    readContainer({ ...place, node: asDocker(node), words, argsKey: 'command' });
  }
}

function environmentOf(doc: YamlDocument, site: Site): readonly Variable[] {
  const outermostFirst = [site.node, ...site.around].reverse();
  return outermostFirst.flatMap((map) =>
    ['env', 'variables', 'environment'].flatMap((k) => entries(doc, get(doc, map, k)).flatMap(variable(doc))),
  );
}

const variable =
  (doc: YamlDocument) =>
  (e: { readonly key: string; readonly value: Node | null }): readonly Variable[] => {
    const text = isMap(e.value) ? scalarAt(doc, get(doc, e.value, 'value')) : scalarAt(doc, e.value);
    return text ? [{ name: e.key, value: text }] : [];
  };

/** `${{ env.X }}`, and `${{ matrix.x }}` where the matrix has one value of it. */
function filler(doc: YamlDocument, site: Site, environment: readonly Variable[]) {
  return ({ start, end }: { readonly start: number; readonly end: number }): string | undefined => {
    const [, kind, name = ''] = /^\$\{\{\s*(env|matrix)\.([\w-]+)\s*\}\}$/.exec(doc.text.slice(start, end)) ?? [];
    if (kind === 'env') {
      const found = environment.findLast((v) => v.name === name)?.value;
      return found?.segments.every((s) => s.unresolved === undefined) ? found.text : undefined;
    }
    const values = kind ? site.around.flatMap((m) => items(doc, get(doc, m, 'strategy', 'matrix', name))) : [];
    return values.length === 1 ? scalarAt(doc, values[0])?.text : undefined;
  };
}
