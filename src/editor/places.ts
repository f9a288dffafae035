/** Where a command acts: the launch that a link names, else the one at the cursor. */
import { l10n, type TextDocument, Uri, window, workspace } from 'vscode';
import type { Plan } from '../planner';
import { targetOf } from './command-names';
import { type DocumentPlans, type Plans, planAt } from './plans';

export interface Place {
  readonly document: TextDocument;
  readonly offset: number;
}

export interface LaunchPlace extends Place {
  readonly made: DocumentPlans;
  readonly plan: Plan;
}

/** Where a link says, else the cursor of the active editor. */
export async function placeOf(argument: unknown): Promise<Place | undefined> {
  const target = targetOf(argument);
  if (target) {
    const document = await workspace.openTextDocument(Uri.parse(target.uri, true));
    return { document, offset: target.offset };
  }
  const editor = window.activeTextEditor;
  return editor && { document: editor.document, offset: editor.document.offsetAt(editor.selection.active) };
}

/** The launch that a command acts on; where there is none the user is told why. */
export async function launchFor(plans: Plans, argument: unknown): Promise<LaunchPlace | undefined> {
  const place = await placeOf(argument);
  const made = place && (await plans.of(place.document));
  const plan = made && planAt(made.plans, place.offset);
  if (!place || !made || !plan) {
    void window.showInformationMessage(noLaunch(place));
    return undefined;
  }
  return { ...place, made, plan };
}

export const noLaunch = (place: Place | undefined): string =>
  place
    ? l10n.t(
        'No launch was found in this file. KV Planner reads shell scripts, Docker Compose files, Kubernetes manifests and option files that start an LLM engine.',
      )
    : l10n.t('Open a file that starts an LLM engine, then run this command again.');

export const fileName = (uri: Uri): string => uri.path.slice(uri.path.lastIndexOf('/') + 1);
