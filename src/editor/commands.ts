/** The commands of the palette, of menus and of our own links. */
import {
  ConfigurationTarget,
  commands,
  Disposable,
  l10n,
  type QuickPickItem,
  type TextDocument,
  type Uri,
  window,
  workspace,
} from 'vscode';
import type { Plan } from '../planner';
import { COMMANDS, type CommandTarget, targetOf } from './command-names';
import { plain } from './markdown';
import type { Pages } from './pages';
import { fileName, noLaunch, type Place, placeOf } from './places';
import { type Plans, planAt } from './plans';
import { SECTION } from './settings';

/** Opens the dashboard on a file's launch, or empty when there is none to show. */
export type OpenDashboard = (document: TextDocument | undefined, offset: number) => Promise<void>;

export function registerCommands(plans: Plans, pages: Pages, openDashboard: OpenDashboard): Disposable {
  const planOf = async (place: Place | undefined): Promise<Plan | undefined> => {
    const made = place && (await plans.of(place.document));
    return made && planAt(made.plans, place.offset);
  };
  return Disposable.from(
    commands.registerCommand(COMMANDS.openDashboard, async (argument: unknown) => {
      const place = await placeOf(argument);
      await openDashboard(place?.document, place?.offset ?? 0);
    }),
    commands.registerCommand(COMMANDS.showReport, async (argument: unknown) => {
      const place = await placeOf(argument);
      if (!place || !(await plans.of(place.document))) {
        void window.showInformationMessage(noLaunch(place));
        return;
      }
      // Run from the palette it reports the whole file; a link of a launch reports that launch.
      await showReport(pages, place.document.uri, targetOf(argument) && place.offset);
    }),
    commands.registerCommand(COMMANDS.setGpu, async (argument: unknown) => {
      const place = await placeOf(argument);
      await setGpu(place, await planOf(place));
    }),
  );
}

/** The report of a file, or of its launch at an offset. */
async function showReport(pages: Pages, uri: Uri, offset?: number): Promise<void> {
  const ask = { kind: 'report', of: uri.toString(), ...(offset !== undefined && { offset }) } as const;
  await pages.show(ask, l10n.t('Capacity of {0}', fileName(uri)));
}

/** Runs a command on one launch, as a link to it would. */
export function runOn(command: 'showReport' | 'setGpu', uri: Uri, offset: number): void {
  const target: CommandTarget = { uri: uri.toString(), offset };
  void commands.executeCommand(COMMANDS[command], target);
}

/**
 * Writes the setting, not the file: it serves every launch that names no GPU, can be done where a file is read-only, and
 * a file is changed only by what says so (the quick fix that adds a directive).
 */
async function setGpu(place: Place | undefined, plan: Plan | undefined): Promise<void> {
  const settings = workspace.getConfiguration(SECTION, place?.document);
  const set = settings.get<unknown>('gpu');
  const current = typeof set === 'string' ? set : '';
  const picked = await window.showQuickPick(gpuItems(current), {
    title: l10n.t('GPU to plan for when a file names none'),
    placeHolder: current ? l10n.t('Now: {0}', current) : l10n.t('Now: none'),
    matchOnDescription: true,
  });
  if (!picked) {
    return;
  }
  const target = workspace.workspaceFolders ? ConfigurationTarget.Workspace : ConfigurationTarget.Global;
  await settings.update('gpu', picked.gpu || undefined, target);
  const origin = plan?.hardware?.origin;
  if (origin && origin.kind !== 'setting') {
    void window.showInformationMessage(
      l10n.t(
        'The launch “{0}” names its own GPU ({1}), which wins over the setting.',
        plain(plan.launch.title),
        plain(origin.text),
      ),
    );
  }
}

interface GpuItem extends QuickPickItem {
  readonly gpu: string;
}

async function gpuItems(current: string): Promise<GpuItem[]> {
  const { gpuChoices } = await import('../lazy');
  const items = gpuChoices().map(({ name, memory }) => ({
    label: name,
    description: memory,
    gpu: name,
    ...(name === current && { detail: l10n.t('current') }),
  }));
  return [
    ...items,
    { label: l10n.t('None'), description: l10n.t('ask for it in every launch that names none'), gpu: '' },
  ];
}
