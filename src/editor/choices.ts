/** Set Model and Choose Engine Version: what is picked is written into the file, at the launch. */
import { commands, Disposable, l10n, type QuickPickItem, window } from 'vscode';
import type { DirectiveKey } from '../launch/launch';
import { COMMANDS } from './command-names';
import { applyEdits } from './documents';
import { plain } from './markdown';
import { type LaunchPlace, launchFor } from './places';
import type { Plans } from './plans';

export function registerChoices(plans: Plans): Disposable {
  return Disposable.from(
    commands.registerCommand(COMMANDS.setModel, async (argument: unknown) => {
      const place = await launchFor(plans, argument);
      const model = place && (said(argument, 'model') ?? (await pickModel(place)));
      if (place && model) {
        await setModel(place, model);
      }
    }),
    commands.registerCommand(COMMANDS.chooseEngineVersion, async (argument: unknown) => {
      const place = await launchFor(plans, argument);
      const version = place && (said(argument, 'version') ?? (await pickVersion(place)));
      if (place && version) {
        await writeDirective(place, 'engine', `${place.plan.engine.id}@${version}`);
      }
    }),
  );
}

function said(argument: unknown, key: string): string | undefined {
  const value =
    typeof argument === 'object' && argument !== null ? (argument as Record<string, unknown>)[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

async function pickModel({ plan }: LaunchPlace): Promise<string | undefined> {
  const { modelChoices } = await import('../lazy');
  const picker = window.createQuickPick();
  const known: readonly QuickPickItem[] = modelChoices().map((id) => ({ label: id }));
  picker.title = l10n.t('Model of “{0}”', plan.launch.title);
  picker.placeholder = plan.launch.model?.text
    ? l10n.t('Now: {0}', plan.launch.model.text)
    : l10n.t('Pick one, or type an id or a path');
  picker.items = known;
  // Any id or path will do: what is typed stands first, unless it is in the list.
  picker.onDidChangeValue((typed) => {
    const own = typed.trim();
    picker.items =
      own === '' || known.some(({ label }) => label === own)
        ? known
        : [{ label: own, description: l10n.t('as typed'), alwaysShow: true }, ...known];
  });
  return new Promise<string | undefined>((resolve) => {
    picker.onDidAccept(() => {
      resolve(picker.selectedItems[0]?.label);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}

/** Where the file says it plainly, that is changed; what comes from a variable or is missing is said in a comment. */
async function setModel(place: LaunchPlace, model: string): Promise<void> {
  const { editOption } = await import('../lazy');
  const { launch } = place.plan;
  const option = launch.options.findLast((o) => o.spec?.role === 'model');
  const isPlain = option !== undefined && option.unresolved === undefined && launch.model?.unresolved === undefined;
  const directive = launch.directives.some((d) => d.key === 'model' || d.key === 'model-config');
  const edits = isPlain && !directive ? editOption(launch, place.made.text, option.name, model) : [];
  if (edits.length > 0) {
    await applyEdits(place.document, edits);
  } else {
    await writeDirective(place, 'model', model);
  }
}

async function writeDirective(place: LaunchPlace, key: DirectiveKey, value: string): Promise<void> {
  const { editDirective } = await import('../lazy');
  const { document, made, plan } = place;
  const launches = made.plans.map((p) => p.launch);
  const edits = editDirective({ launch: plan.launch, launches }, made.text, key, value);
  if (edits.length === 0) {
    void window.showWarningMessage(
      l10n.t(
        'This file has no place for a comment at “{0}”. Say it by hand: {1}',
        plain(plan.launch.title),
        `kv-planner: ${key}=${value}`,
      ),
    );
    return;
  }
  await applyEdits(document, edits);
}

async function pickVersion({ plan }: LaunchPlace): Promise<string | undefined> {
  const { engineVersions } = await import('../lazy');
  const engine = engineVersions().find(({ id }) => id === plan.engine.id);
  const now = plan.engine.version;
  const items = engine?.versions.map((version) => ({
    label: version,
    ...(version === now.text && { description: l10n.t('now: {0}', now.origin.text) }),
  }));
  const picked = await window.showQuickPick(items ?? [], {
    title: l10n.t('Version of {0} to plan “{1}” for', plan.engine.title, plain(plan.launch.title)),
    placeHolder: l10n.t('Versions with rules of their own, newest first; written as a comment above the launch'),
  });
  return picked?.label;
}
