/** The launch that a panel shows, as it is tried: planned, drawn in words, and written into its file. */
import {
  env,
  l10n,
  Range,
  type TextDocument,
  type Uri,
  type ViewColumn,
  WorkspaceEdit,
  window,
  workspace,
} from 'vscode';
import type { WhatIf as TriedPlan } from '../what-if';
import { placeOf, type Sighting, sightingOf } from './place';
import type { PanelPorts, PlannedDocument } from './ports';
import { PROTOCOL, type Shown, type StudiesView, type WhatIf } from './protocol';

export interface Followed {
  readonly document: TextDocument;
  /** Which of its launches, when it was last looked for. */
  readonly index: number;
  readonly whatIf: WhatIf;
  /** Absent after a reload, until it has been found. */
  readonly sighting?: Sighting;
}

export interface TriedDocument {
  /** It may have been closed and opened again. */
  readonly document: TextDocument;
  readonly made: PlannedDocument;
  readonly index: number;
  /** The launch is not in its file any more; another one stands in its place. */
  readonly gone: boolean;
  /** Nothing where the launch that it was tried on is gone: it is not tried on another one. */
  readonly whatIf: WhatIf;
  readonly tried: TriedPlan;
}

export async function triedOf(ports: PanelPorts, followed: Followed): Promise<TriedDocument | undefined> {
  const document = await readable(ports, followed.document);
  const made = await ports.of(document);
  const place = made && placeOf(titlesOf(made), followed);
  const written = place && made.plans[place.index];
  if (!place || !written) {
    return undefined;
  }
  const { index, gone } = place;
  const whatIf = gone ? {} : followed.whatIf;
  const key = `${index} ${JSON.stringify(whatIf)}`;
  const known = lastTried.get(made);
  if (known?.key === key) {
    return { document, made, index, gone, whatIf, tried: known.tried };
  }
  const { tryOut } = await import('../lazy');
  const tried = tryOut(made.input, made.context, index, written, whatIf);
  lastTried.set(made, { key, tried });
  return { document, made, index, gone, whatIf, tried };
}

/** The same launch where it is found now; itself where it is not: it may come back. */
export async function located(ports: PanelPorts, at: Followed): Promise<Followed> {
  const found = await triedOf(ports, at).catch(() => undefined);
  return found && !found.gone ? { ...sightedIn(found), whatIf: at.whatIf } : at;
}

/** The launch that is shown in its place: what is tried next is tried on that one. Itself where there is none. */
export async function sighted(ports: PanelPorts, at: Followed): Promise<Followed> {
  const found = await triedOf(ports, at).catch(() => undefined);
  return found ? sightedIn(found) : at;
}

const sightedIn = ({ document, made, index, whatIf }: TriedDocument): Followed => ({
  document,
  index,
  whatIf,
  sighting: sightingOf(titlesOf(made), index),
});

export const titlesOf = ({ plans }: PlannedDocument): readonly string[] => plans.map(({ launch }) => launch.title);

/** A closed document no longer follows its file, which may have changed on the disk since. */
async function readable(ports: PanelPorts, document: TextDocument): Promise<TextDocument> {
  if (document.isClosed && document.isUntitled) {
    throw new Error(l10n.t('{0} was closed without being saved.', workspace.asRelativePath(document.uri, false)));
  }
  return document.isClosed || ports.where.isGone(document.uri) ? documentAt(ports, document.uri) : document;
}

/** Rejects with words for the person. */
export async function documentAt({ where }: PanelPorts, file: Uri): Promise<TextDocument> {
  const name = workspace.asRelativePath(file, false);
  if (where.isGone(file)) {
    throw new Error(l10n.t('{0} was deleted.', name));
  }
  try {
    return await workspace.openTextDocument(file);
  } catch {
    throw new Error(l10n.t('{0} can no longer be read: it may have been moved or deleted.', name));
  }
}

/** One change is asked about several times: its view, its studies, what there is to pin. */
const lastTried = new WeakMap<PlannedDocument, { readonly key: string; readonly tried: TriedPlan }>();

export async function viewOf(ports: PanelPorts, at: Followed | undefined): Promise<Shown> {
  try {
    const found = at && (await triedOf(ports, at));
    if (!at || !found) {
      return { view: { kind: 'empty', text: emptyText() } };
    }
    const { document, made, index, whatIf, tried } = found;
    const { planView, requestsByLength } = await import('../lazy');
    const line = document.positionAt(tried.plan.launch.head.start).line + 1;
    const remote = env.remoteName ?? '';
    const view = planView({ tried, points: requestsByLength(tried.plan), line, whatIf, remote });
    const sighting = sightingOf(titlesOf(made), index);
    return { view, state: { version: PROTOCOL, file: document.uri.toString(), index, sighting, whatIf } };
  } catch (error) {
    return { view: { kind: 'error', text: error instanceof Error ? error.message : String(error) } };
  }
}

export async function studiesFor(ports: PanelPorts, at: Followed | undefined): Promise<StudiesView> {
  const found = at && (await triedOf(ports, at));
  if (!found) {
    return { missing: [] };
  }
  const { studiesOf, studiesView } = await import('../lazy');
  const { plan } = found.tried;
  return studiesView(plan, studiesOf(plan, found.made.tryOptions));
}

/** Writes what is tried as one edit. Gives what is still tried then: what could not be written. Rejects with words. */
export async function applied(ports: PanelPorts, at: Followed, beside: ViewColumn): Promise<WhatIf> {
  const found = await triedOf(ports, at);
  if (!found || found.tried.edits.length === 0) {
    throw new Error(l10n.t('There is nothing that could be written into the file.'));
  }
  const { document, made, tried } = found;
  if (made.version !== document.version) {
    throw new Error(l10n.t('The file has changed in the meantime. Look at the plan again, then apply.'));
  }
  const edit = new WorkspaceEdit();
  for (const { range, text } of tried.edits) {
    edit.replace(document.uri, new Range(document.positionAt(range.start), document.positionAt(range.end)), text);
  }
  if (!(await workspace.applyEdit(edit))) {
    throw new Error(l10n.t('The file could not be changed: it may be read-only.'));
  }
  await reveal(document, beside);
  const kept = new Set<string>([...tried.unheld, ...tried.refused].map(({ key }) => key));
  return Object.fromEntries(Object.entries(at.whatIf).filter(([key]) => kept.has(key)));
}

/** An edit that nobody sees could not be undone by who made it. */
async function reveal(document: TextDocument, beside: ViewColumn): Promise<void> {
  if (!window.visibleTextEditors.some((editor) => editor.document === document)) {
    await window.showTextDocument(document, { viewColumn: beside, preserveFocus: true });
  }
}

const emptyText = (): string =>
  l10n.t('Open a shell script, a Compose file, a Kubernetes manifest or a file of options that starts an engine.');
