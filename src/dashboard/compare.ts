/** Plans held side by side: each from a file, a revision of one, or on another engine. */
import { l10n, type TextDocument, Uri, window, workspace } from 'vscode';
import type { Plan } from '../planner';
import type { Compared } from './compare-view';
import { type Followed, triedOf } from './followed';
import type { DashboardPorts, PlannedText } from './ports';
import type { ComparisonView, Pin, Pinnable } from './protocol';

export async function comparisonOf(ports: DashboardPorts, pins: readonly Pin[]): Promise<ComparisonView> {
  const { comparisonView } = await import('../lazy');
  return comparisonView(await Promise.all(pins.map((pin) => comparedOf(ports, pin))));
}

async function comparedOf(ports: DashboardPorts, pin: Pin): Promise<Compared> {
  const file = Uri.parse(pin.file, true);
  const name = workspace.asRelativePath(file, false);
  const where = [pin.revision?.label, pin.engine && l10n.t('on {0}', pin.engine)];
  const titled = (title: string, more: readonly string[]): { title: string; detail: string } => ({
    title,
    detail: [...where, ...more].filter(Boolean).join(' · ') || l10n.t('as it is'),
  });
  try {
    const found = await planOf(ports, pin, file, name);
    return found
      ? { ...titled(`${found.plan.launch.title} (${name})`, found.tried), plan: found.plan }
      : { ...titled(name, []), error: l10n.t('The file has no such launch any more.') };
  } catch (error) {
    return { ...titled(name, []), error: error instanceof Error ? error.message : String(error) };
  }
}

interface PinPlan {
  readonly plan: Plan;
  /** `max-model-len 4096`: what was tried when it was pinned and still differs from the file. */
  readonly tried: readonly string[];
}

async function planOf(ports: DashboardPorts, pin: Pin, file: Uri, name: string): Promise<PinPlan | undefined> {
  const text = await textOf(ports, pin, file, name);
  const written = text?.result.plans[pin.index];
  if (!text || !written) {
    return undefined;
  }
  const { compareEngines, tryOut } = await import('../lazy');
  const { plan, input, context, changes } = tryOut(text.input, text.context, pin.index, written, pin.whatIf);
  const tried = changes.map(({ option, to }) => `${option} ${to}`);
  if (pin.engine === undefined) {
    return { plan, tried };
  }
  const [id = '', version] = pin.engine.split('@', 2);
  const asked = [{ id, ...(version !== undefined && { version }) }];
  const other = compareEngines(asked, input, context).compared[pin.index]?.engines.find((e) => !e.asWritten);
  if (!other) {
    throw new Error(l10n.t('It cannot be planned on {0}.', pin.engine));
  }
  return { plan: other.plan, tried };
}

async function textOf(ports: DashboardPorts, pin: Pin, file: Uri, name: string): Promise<PlannedText | undefined> {
  if (pin.revision) {
    const older = await workspace.openTextDocument(Uri.parse(pin.revision.uri, true));
    return ports.plan({ uri: file, text: older.getText(), name });
  }
  const made = await ports.of(await workspace.openTextDocument(file));
  return made && { input: made.input, context: made.context, result: made };
}

/** The launch that is shown, as it is and as it is tried; others of open files; other engines; older texts. */
export async function pinnableOf(ports: DashboardPorts, at: Followed): Promise<Pinnable> {
  const found = await triedOf(ports, at);
  const { engineTitles } = await import('../lazy');
  const own: Pin = {
    file: at.document.uri.toString(),
    index: found?.index ?? at.index,
    whatIf: found?.whatIf ?? at.whatIf,
  };
  const older = await ports.olderTexts(at.document.uri).catch(() => []);
  const documents = [at.document, ...workspace.textDocuments.filter((d) => d !== at.document && !d.isClosed)];
  const launches = (await Promise.all(documents.map((d) => launchesOf(ports, d)))).flat();
  const title = found?.tried.plan.launch.title ?? '';
  const tried = (found?.tried.changes.length ?? 0) > 0;
  return {
    launches: [
      { label: title, detail: tried ? l10n.t('as it is tried') : l10n.t('as it is'), pin: own },
      ...launches.filter(({ pin }) => tried || pin.file !== own.file || pin.index !== own.index),
    ],
    engines: engineTitles()
      .filter(({ id }) => id !== found?.tried.plan.engine.id)
      .map((engine) => ({ label: engine.title, detail: title, pin: { ...own, engine: engine.id } })),
    revisions: older.slice(0, MOST_REVISIONS).map((text) => ({
      label: text.title,
      detail: text.detail,
      pin: { ...own, whatIf: {}, revision: { uri: text.uri.toString(), label: text.detail.slice(0, 200) } },
    })),
  };
}

const MOST_REVISIONS = 20;

async function launchesOf(ports: DashboardPorts, document: TextDocument): Promise<Pinnable['launches']> {
  const plans = (await ports.of(document))?.plans ?? [];
  const name = workspace.asRelativePath(document.uri, false);
  return plans.map(({ launch }, index) => ({
    label: launch.title,
    detail: `${name}:${document.positionAt(launch.head.start).line + 1}`,
    pin: { file: document.uri.toString(), index, whatIf: {} },
  }));
}

export async function pickPin(ports: DashboardPorts): Promise<{ pin?: Pin }> {
  const [uri] = (await window.showOpenDialog({ title: l10n.t('A file to compare with') })) ?? [];
  if (!uri) {
    return {};
  }
  const launches = await launchesOf(ports, await workspace.openTextDocument(uri));
  if (launches.length === 0) {
    throw new Error(l10n.t('No launch was found in {0}.', workspace.asRelativePath(uri, false)));
  }
  const items = launches.map(({ label, detail, pin }) => ({ label, description: detail, pin }));
  const picked = items.length === 1 ? items[0] : await window.showQuickPick(items);
  return picked ? { pin: picked.pin } : {};
}
