/**
 * Steps of workflows on Kubernetes: a container, or a script in one, with what the workflow fills in. Argo Workflows 3.7
 * (`container`, `script` with `source`, `resource` with a manifest) and Tekton Pipelines 1.0 (`steps`, `sidecars`).
 */
import { isMap, type Node, type YAMLMap } from 'yaml';
import type { TextRange } from '../launch';
import { readScript } from '../shell/script';
import { type Mapped, refilled, unresolvedIn, withOwnLayers } from '../text/mapped';
import { type Replacement, replaceIn } from '../text/replace';
import { readImage } from '../words/image';
import { type Site, sitesIn, type Walk } from '../yaml/sites';
import { get, items, scalarAt, textAt } from '../yaml/view';
import { type Container, environmentAround, readContainer } from './container';
import type { KubernetesObject } from './custom-resources';
import { machineOf } from './machine';

/** How a workflow writes what it fills in. */
type Filling = (o: KubernetesObject, site: Site) => (m: Mapped) => Mapped;

/** Anything with a container's words; lists that the reader of pods knows (`containerSet`) are its own. */
const STEPS: Walk = {
  wanted: (_key, node) => ['source', 'script', 'image', 'manifest'].some((k) => node.has(k) && !isMap(node.get(k))),
  skipped: (key) =>
    /^(?:containers|initContainers|stepTemplate|artifacts|outputs|metadata|status|when|matrix|results|volumes|metrics|data)$/.test(
      key,
    ),
};

export const readArgoWorkflow = (o: KubernetesObject): void => readSteps(o, argoFilling);
export const readTekton = (o: KubernetesObject): void => readSteps(o, tektonFilling);

function readSteps(o: KubernetesObject, filling: Filling): void {
  for (const site of sitesIn(o.doc, o.object, STEPS)) {
    readStep(o, site, filling(o, site));
  }
}

function readStep(o: KubernetesObject, site: Site, fill: (m: Mapped) => Mapped): void {
  const { doc, reading, file } = o;
  const { node } = site;
  const manifest = scalarAt(doc, get(doc, node, 'manifest'));
  if (manifest) {
    reading.embedded('manifest.yaml', manifest, { environment: [], hardware: {} });
  }
  const written = [node, ...site.around.map((m) => get(doc, m, 'stepTemplate'))].map((m) =>
    scalarAt(doc, get(doc, m, 'image')),
  );
  const image = written.find((i) => i !== undefined);
  const container: Container = {
    doc,
    reading,
    form: 'kubernetes',
    node,
    title: titleOf(o, site),
    hardware: machineOf(doc, site),
    config: file,
    fill,
    ...(image ? { image: fill(image) } : {}),
  };
  const script = scalarAt(doc, get(doc, node, 'source')) ?? scalarAt(doc, get(doc, node, 'script'));
  if (script) {
    readSource(o, container, fill(script));
  } else {
    readContainer(container);
  }
}

/** In what its first line or the command says: a shell, unless it is Python. */
function readSource({ doc, reading }: KubernetesObject, c: Container, script: Mapped): void {
  const command = items(doc, get(doc, c.node, 'command')).map((n) => scalarAt(doc, n)?.text ?? '');
  const shebang = /^\s*#!.*/.exec(script.text)?.[0];
  const runs = shebang ?? command.join(' ');
  if (/\bpython/.test(runs)) {
    reading.fenced('python', script, c.form, c.title);
  } else if (runs === '' || /\b(?:ba|z|da|a|k)?sh\b/.test(runs)) {
    const known = c.image && readImage(c.image, reading.engines);
    const around = { environment: environmentAround(c), hardware: c.hardware, ...(known ? { image: known } : {}) };
    readScript(reading, { kind: 'script', ...around, script }, { form: c.form, title: c.title });
  }
}

/** A container of a template has the template's name. */
function titleOf({ doc, object }: KubernetesObject, { node, around, keys }: Site): string {
  const own = textAt(doc, node, 'name');
  const outer = keys[0] === 'container' || keys[0] === 'script' ? textAt(doc, around[0], 'name') : undefined;
  return (
    own ?? outer ?? textAt(doc, object, 'metadata', 'name') ?? textAt(doc, object, 'metadata', 'generateName') ?? 'step'
  );
}

/** The value in a list of parameters; what the caller says counts over the default. */
function parameter({ doc }: KubernetesObject, lists: readonly (Node | null)[], name: string): Mapped | undefined {
  const all = lists.flatMap((list) => items(doc, list).filter((p) => textAt(doc, p, 'name') === name));
  const texts = ['value', 'default'].flatMap((key) => all.map((p) => scalarAt(doc, get(doc, p, key))));
  return texts.find((t) => t !== undefined && unresolvedIn(t) === undefined && t.text.search(TEKTON_REFERENCE) === -1);
}

/** `{{inputs.parameters.x}}` of the template, `{{workflow.parameters.x}}` of the whole. */
const argoFilling: Filling = (o, site) => {
  const { doc, object } = o;
  const own = site.around.map((m) => get(doc, m, 'inputs', 'parameters'));
  const whole = ['spec', 'workflowSpec'].flatMap((k) => [
    get(doc, object, k, 'arguments', 'parameters'),
    get(doc, object, 'spec', k, 'arguments', 'parameters'),
  ]);
  const known = ({ start, end }: TextRange): string | undefined => {
    const [, from, name = ''] =
      /^\{\{\s*(inputs|workflow)\.parameters\.([\w-]+)\s*\}\}$/.exec(doc.text.slice(start, end)) ?? [];
    return from === undefined ? undefined : parameter(o, from === 'inputs' ? own : whole, name)?.text;
  };
  return (m) => refilled(m, known);
};

const TEKTON_REFERENCE =
  /\$\((?:inputs\.)?(params|workspaces|results|context|tasks|steps|step|resources|outputs|credentials)(?:\.([\w.-]+)|\[["']([\w.-]+)["']\])[^()\s]*\)/g;

/** `$(params.x)`, `$(params["x"])`; anything else of that kind is known when the task runs. */
const tektonFilling: Filling = (o, site) => {
  const maps: readonly YAMLMap[] = [site.node, ...site.around];
  const lists = maps.flatMap((m) => [get(o.doc, m, 'params'), get(o.doc, m, 'inputs', 'params')]);
  return (m) =>
    replaceIn(m, TEKTON_REFERENCE, ([whole, kind, dotted, quoted]): Replacement => {
      const value = kind === 'params' ? parameter(o, lists, dotted ?? quoted ?? '') : undefined;
      return value ? { mapped: withOwnLayers(value) } : { unresolved: `${whole} is filled in when the task runs` };
    });
};
