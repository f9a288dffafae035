/** Compare Engines, and Compare With Another File or Git Revision. */
import {
  commands,
  Disposable,
  l10n,
  type QuickPickItem,
  QuickPickItemKind,
  type TextDocument,
  Uri,
  window,
  workspace,
} from 'vscode';
import { COMMANDS } from './command-names';
import { type NoGit, type Revision, revisionAt, revisionsOf } from './git';
import { plain } from './markdown';
import type { Pages } from './pages';
import { fileName, type LaunchPlace, launchFor } from './places';
import type { Plans } from './plans';
import { shown } from './report-commands';

export function registerCompare(plans: Plans, pages: Pages): Disposable {
  return Disposable.from(
    commands.registerCommand(COMMANDS.compareEngines, async (argument: unknown) => {
      const place = await launchFor(plans, argument);
      const engines = place && (saidEngines(argument) ?? (await pickEngines(place)));
      if (!place || !engines || engines.length === 0) {
        return;
      }
      const of = place.document.uri.toString();
      const ask = { kind: 'engines', of, offset: place.plan.launch.head.start, engines } as const;
      await shown(pages, ask, l10n.t('Engines for {0}', fileName(place.document.uri)));
    }),
    commands.registerCommand(COMMANDS.compareWith, async (argument: unknown) => {
      const place = await launchFor(plans, argument);
      const other = place && ((await saidOther(place.document, argument)) ?? (await pickOther(place.document)));
      if (!place || !other) {
        return;
      }
      if (typeof other === 'string') {
        void window.showWarningMessage(l10n.t('There is no revision to compare with: {0}.', whyNone(other)));
        return;
      }
      const { uri } = place.document;
      const ask = { kind: 'changes', of: uri.toString(), before: other.uri.toString(), name: other.name } as const;
      await shown(pages, ask, l10n.t('Changes of {0}', fileName(uri)));
    }),
  );
}

function saidEngines(argument: unknown): string[] | undefined {
  const { engines } = (argument ?? {}) as { engines?: unknown };
  return Array.isArray(engines) && engines.every((e) => typeof e === 'string') ? engines : undefined;
}

async function pickEngines({ plan }: LaunchPlace): Promise<string[] | undefined> {
  const { engineVersions } = await import('../lazy');
  const items = engineVersions().flatMap(({ id, title, versions }) =>
    id === plan.engine.id
      ? versions
          .filter((version) => version !== plan.engine.version.text)
          .slice(0, 3)
          .map((version) => ({ label: `${title} ${version}`, engine: `${id}@${version}`, picked: false }))
      : [{ label: `${title} ${versions[0] ?? ''}`, engine: id, picked: true }],
  );
  const picked = await window.showQuickPick(items, {
    title: l10n.t(
      'Compare “{0}” on {1} {2} with',
      plain(plan.launch.title),
      plan.engine.title,
      plan.engine.version.text,
    ),
    canPickMany: true,
  });
  return picked?.map(({ engine }) => engine);
}

interface Other {
  readonly uri: Uri;
  readonly name: string;
}

/** `other` is a file's address, `revision` what Git calls one. */
async function saidOther({ uri: file }: TextDocument, argument: unknown): Promise<Other | NoGit | undefined> {
  const { other, revision } = (argument ?? {}) as { other?: unknown; revision?: unknown };
  if (typeof revision === 'string') {
    const uri = await revisionAt(file, revision);
    return typeof uri === 'string' ? uri : { uri, name: `${revision}:${workspace.asRelativePath(file, false)}` };
  }
  return typeof other === 'string' ? otherFile(Uri.parse(other, true)) : undefined;
}

const otherFile = (uri: Uri): Other => ({ uri, name: workspace.asRelativePath(uri, false) });

interface OtherItem extends QuickPickItem {
  readonly choose?: () => Promise<Other | undefined>;
}

async function pickOther(document: TextDocument): Promise<Other | undefined> {
  const revisions = await revisionsOf(document.uri);
  const items: OtherItem[] = [
    { label: l10n.t('$(file) Another File…'), choose: pickFile },
    { label: l10n.t('Git'), kind: QuickPickItemKind.Separator },
    ...(typeof revisions === 'string'
      ? [{ label: l10n.t('No revisions'), description: whyNone(revisions) }]
      : revisions.map(item)),
    ...(revisions.length === 0
      ? [{ label: l10n.t('No revisions'), description: l10n.t('this file has not been committed') }]
      : []),
  ];
  const picked = await window.showQuickPick(items, {
    title: l10n.t('Compare the capacity of {0} with', plain(fileName(document.uri))),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return picked?.choose?.();

  function item(revision: Revision): OtherItem {
    const name = `${revision.ref.slice(0, 8)}:${workspace.asRelativePath(document.uri, false)}`;
    return {
      label: `$(git-commit) ${revision.title.replaceAll('$(', '$ (')}`,
      description: revision.detail,
      choose: async () => ({ uri: revision.uri, name }),
    };
  }
}

const whyNone = (reason: NoGit): string =>
  reason === 'no-git'
    ? l10n.t('VS Code’s Git extension is not there or switched off')
    : l10n.t('the file is in no Git repository that is open');

async function pickFile(): Promise<Other | undefined> {
  const [uri] = (await window.showOpenDialog({ title: l10n.t('Compare With'), canSelectMany: false })) ?? [];
  return uri && otherFile(uri);
}
