/**
 * Ansible: plays and lists of tasks. Modules that run a command (`shell`, `command`), a container (`docker_container`,
 * `podman_container`), write a file (`copy` with `content`) or create what another form describes (`k8s`, `helm`,
 * `docker_compose_v2`). Variables are those of the play, block and task, and the defaults of the role. As of Ansible 12.
 */
import { isMap, isSeq, type Node, type YAMLMap } from 'yaml';
import type { HardwareHint } from '../launch';
import type { Reading } from '../reading';
import { readScript } from '../shell/script';
import { type Mapped, rangeOf } from '../text/mapped';
import { gpuCount } from '../words/container';
import type { Variable } from '../words/variable';
import type { YamlDocument } from '../yaml/document';
import { type Site, sitesIn, type Walk } from '../yaml/sites';
import { entries, get, items, nodeRange, scalarAt, textAt } from '../yaml/view';
import { ansibleVariables, type Fill } from './ansible-variables';
import { compose } from './compose';
import { asDocker, readContainer } from './container';
import type { YamlForm } from './form';
import { readHelmValues } from './helm';
import { kubernetes } from './kubernetes';
import { countOf } from './machine';

/** A list of maps, of which one has a key that only plays and tasks have, or a module by its full name. */
const TASKS =
  /^[ \t]*(?:- +)?(?:hosts|tasks|become|gather_facts|register|changed_when|failed_when|notify|include_tasks|import_tasks|import_playbook|ignore_errors|async|docker_container|podman_container)[ \t]*:|^[ \t]*(?:- +)?(?:ansible|community|containers|kubernetes)\.\w+\.\w+[ \t]*:/m;

export const ansible: YamlForm = {
  kind: 'yaml',
  form: 'ansible',
  recognises: (keys, reading) => reading.input.form === 'ansible' || (keys.size === 0 && hasTasks(reading)),
  read: (doc, reading) => {
    if (!isSeq(doc.root)) {
      return;
    }
    for (const site of sitesIn(doc, doc.root, MODULES)) {
      readTask(doc, reading, site);
    }
  },
};

const told = new WeakMap<Reading, boolean>();

/** Asked for each document of a file. */
function hasTasks(reading: Reading): boolean {
  const known = told.get(reading) ?? (/^[ \t]*- /m.test(reading.text) && TASKS.test(reading.text));
  told.set(reading, known);
  return known;
}

/** The module's name without its collection. */
const shortName = (key: string): string => key.replace(/^\w+\.\w+\./, '');

type Module = (task: Task, node: Node) => void;

interface Task {
  readonly doc: YamlDocument;
  readonly reading: Reading;
  readonly site: Site;
  readonly title: string;
  readonly fill: Fill;
}

const READERS: Readonly<Record<string, Module>> = {
  shell: command,
  command,
  raw: command,
  docker_container: container,
  podman_container: container,
  copy: file,
  k8s: (t, node) => described(t, node, ['definition', 'resource_definition'], kubernetes),
  docker_compose: (t, node) => described(t, node, ['definition'], compose),
  docker_compose_v2: (t, node) => described(t, node, ['definition'], compose),
  helm: (t, node) =>
    ['values', 'release_values'].forEach((key) => {
      readHelmValues(t.doc, get(t.doc, node, key), t.reading);
    }),
};

const moduleOf = (node: YAMLMap): string | undefined => {
  const key = node.items.map((p) => String((p.key as { value?: unknown } | null)?.value ?? '')).find(isModule);
  return node.has('image') ? undefined : key;
};

const isModule = (key: string): boolean => Object.hasOwn(READERS, shortName(key));

const MODULES: Walk = {
  wanted: (_key, node) => moduleOf(node) !== undefined,
  skipped: (key) => /^(?:vars|environment|roles|module_defaults|loop|with_\w+)$/.test(key),
};

function readTask(doc: YamlDocument, reading: Reading, site: Site): void {
  const key = moduleOf(site.node) ?? '';
  const node = get(doc, site.node, key);
  const title = textAt(doc, site.node, 'name') ?? shortName(key);
  if (node) {
    READERS[shortName(key)]?.({ doc, reading, site, title, fill: ansibleVariables(doc, reading, site) }, node);
  }
}

/** `shell: words`, `shell: {cmd: words}`, `command: {argv: [words]}`. */
function command({ doc, reading, site, title, fill }: Task, node: Node): void {
  const argv = get(doc, node, 'argv');
  const variables = environmentOf(doc, site, fill);
  if (isMap(node) && argv) {
    const place = { doc, reading, form: 'ansible' as const, title, hardware: {}, fill, variables };
    readContainer({ ...place, node, words: argv });
    return;
  }
  const script = scalarAt(doc, isMap(node) ? get(doc, node, 'cmd') : node);
  if (script) {
    const around = { environment: variables, hardware: {}, script: fill(script) };
    readScript(reading, { kind: 'script', ...around }, { form: 'ansible', title });
  }
}

/** `environment` of the play, the block and the task. */
const environmentOf = (doc: YamlDocument, { node, around }: Site, fill: Fill): readonly Variable[] =>
  [node, ...around].reverse().flatMap((map) =>
    entries(doc, get(doc, map, 'environment')).flatMap((e) => {
      const value = scalarAt(doc, e.value);
      return value ? [{ name: e.key, value: fill(value) }] : [];
    }),
  );

/** As Docker describes it: `command` is the arguments of the image's entry point. */
function container({ doc, reading, site, title, fill }: Task, node: Node): void {
  const image = scalarAt(doc, get(doc, node, 'image'));
  if (!isMap(node) || !image || /^(?:absent|stopped)$/.test(textAt(doc, node, 'state') ?? '')) {
    return;
  }
  readContainer({
    doc,
    reading,
    form: 'ansible',
    node: asDocker(node),
    words: get(doc, node, 'command'),
    argsKey: 'command',
    title: textAt(doc, node, 'name') ?? title,
    hardware: devicesOf(doc, node),
    image: fill(image),
    whole: site.node,
    fill,
  });
}

/** `device_requests: [{count: 2}]`, `gpus: 2`. */
function devicesOf(doc: YamlDocument, node: YAMLMap): HardwareHint {
  for (const request of items(doc, get(doc, node, 'device_requests'))) {
    const ids = get(doc, request, 'device_ids');
    const listed = isSeq(ids) ? { value: ids.items.length, range: nodeRange(doc, ids) } : undefined;
    const count = countOf(scalarAt(doc, get(doc, request, 'count'))) ?? listed;
    if (count) {
      return { count };
    }
  }
  const gpus = scalarAt(doc, get(doc, node, 'gpus'));
  const count = gpus && gpuCount(gpus.text);
  return gpus && count ? { count: { value: count, range: rangeOf(gpus) } } : {};
}

/** A file that the task writes: a unit, a script, a manifest. */
function file({ doc, reading, title, fill }: Task, node: Node): void {
  const content = scalarAt(doc, get(doc, node, 'content'));
  const path = textAt(doc, node, 'dest') ?? '';
  if (!content) {
    return;
  }
  const language = languageOf(path, content);
  if (language === undefined) {
    reading.embedded(path, fill(content), { environment: [], hardware: {} });
  } else {
    reading.fenced(language, fill(content), 'ansible', title);
  }
}

const languageOf = (path: string, { text }: Mapped): string | undefined =>
  /\.service$|\.service\.d\/[^/]*\.conf$|\.container$/.test(path) || /^\[Service\]/m.test(text)
    ? 'systemd'
    : /(?:^|\/)modelfile[^/]*$/i.test(path)
      ? 'modelfile'
      : undefined;

/** What the task creates stands in it as a map. */
function described({ doc, reading }: Task, node: Node, keys: readonly string[], form: YamlForm): void {
  for (const key of keys) {
    const root = get(doc, node, key);
    for (const one of isSeq(root) ? items(doc, root) : [root]) {
      const inner = { ...doc, root: one };
      if (isMap(one)) {
        form.read(inner, reading, [inner]);
      }
    }
  }
}
