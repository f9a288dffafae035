/** Plans held side by side: each from a file, a revision of one, or on another engine. */
import { l10n, type TextDocument, Uri, window, workspace } from 'vscode';
import type { Plan } from '../planner';
import type { Compared } from './compare-view';
import { documentAt, type Followed, titlesOf, triedOf } from './followed';
import { placeOf, sightingOf, titleIn } from './place';
import type { DashboardPorts, PanelPorts, PlannedText } from './ports';
import type { ComparisonView, Pin, Pinnable } from './protocol';

export async function comparisonOf(ports: PanelPorts, pins: readonly Pin[]): Promise<ComparisonView> {
  const { comparisonView } = await import('../lazy');
  return comparisonView(await Promise.all(pins.map((pin) => comparedOf(ports, pin))));
}

async function comparedOf(ports: PanelPorts, asked: Pin): Promise<Compared> {
  let pin = asked;
  let name = asked.file;
  const where = [pin.revision?.label, pin.engine && l10n.t('on {0}', pin.engine)];
  const titled = (launch: string | undefined, more: readonly string[] = []): { title: string; detail: string } => ({
    title: launch === undefined ? name : `${launch} (${name})`,
    detail: [...where, ...more].filter(Boolean).join(' · ') || l10n.t('as it is'),
  });
  try {
    const file = ports.where.now(Uri.parse(asked.file, true));
    name = workspace.asRelativePath(file, false);
    pin = { ...asked, file: file.toString() };
    const text = await textOf(ports, pin, file, name);
    const titles = text?.result.plans.map(({ launch }) => launch.title) ?? [];
    const place = placeOf(titles, pin);
    if (!text || !place || place.gone) {
      throw new Error(
        pin.revision
          ? l10n.t('This revision has no such launch, or can no longer be read.')
          : l10n.t('The file has no such launch any more.'),
      );
    }
    const { index } = place;
    const { plan, tried } = await planOf(text, index, pin);
    // An older text says nothing of where the launch is now.
    pin = pin.revision ? pin : { ...pin, index, sighting: sightingOf(titles, index) };
    return { ...titled(plan.launch.title, tried), plan, pin };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ...titled(pin.sighting && titleIn(pin.sighting)), error: words, pin };
  }
}

interface PinPlan {
  readonly plan: Plan;
  /** `max-model-len 4096`: what was tried when it was pinned and still differs from the file. */
  readonly tried: readonly string[];
}

async function planOf(text: PlannedText, index: number, pin: Pin): Promise<PinPlan> {
  const { compareEngines, tryOut } = await import('../lazy');
  const written = text.result.plans[index] as Plan;
  const { plan, input, context, changes } = tryOut(text.input, text.context, index, written, pin.whatIf);
  const tried = changes.map(({ option, to }) => `${option} ${to}`);
  if (pin.engine === undefined) {
    return { plan, tried };
  }
  const [id = '', version] = pin.engine.split('@', 2);
  const asked = [{ id, ...(version !== undefined && { version }) }];
  const other = compareEngines(asked, input, context).compared[index]?.engines.find((e) => !e.asWritten);
  if (!other) {
    throw new Error(l10n.t('It cannot be planned on {0}.', pin.engine));
  }
  return { plan: other.plan, tried };
}

async function textOf(ports: PanelPorts, pin: Pin, file: Uri, name: string): Promise<PlannedText | undefined> {
  if (pin.revision) {
    const older = await olderText(Uri.parse(pin.revision.uri, true));
    return older === undefined ? undefined : ports.plan({ uri: file, text: older, name });
  }
  const made = await ports.of(await documentAt(ports, file));
  return made && { input: made.input, context: made.context, result: made };
}

/** Undefined where nobody keeps it any more. */
async function olderText(uri: Uri): Promise<string | undefined> {
  try {
    return (await workspace.openTextDocument(uri)).getText();
  } catch {
    return undefined;
  }
}

/** The launch that is shown, as it is and as it is tried; others of open files; other engines; older texts. */
export async function pinnableOf(ports: PanelPorts, at: Followed): Promise<Pinnable> {
  const found = await triedOf(ports, at);
  const { engineTitles } = await import('../lazy');
  const document = found?.document ?? at.document;
  const own: Pin = {
    file: document.uri.toString(),
    index: found?.index ?? at.index,
    sighting: found ? sightingOf(titlesOf(found.made), found.index) : at.sighting,
    whatIf: found?.whatIf ?? at.whatIf,
  };
  const older = await ports.olderTexts(document.uri).catch(() => []);
  const documents = [document, ...workspace.textDocuments.filter((d) => d !== document && !d.isClosed)];
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
  const made = await ports.of(document);
  const titles = made ? titlesOf(made) : [];
  const name = workspace.asRelativePath(document.uri, false);
  return (made?.plans ?? []).map(({ launch }, index) => ({
    label: launch.title,
    detail: `${name}:${document.positionAt(launch.head.start).line + 1}`,
    pin: { file: document.uri.toString(), index, sighting: sightingOf(titles, index), whatIf: {} },
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
