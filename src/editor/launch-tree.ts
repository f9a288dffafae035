/** The view of all launches in the workspace, with a plan beside each. It is filled when the user asks for it. */
import {
  CancellationTokenSource,
  commands,
  Disposable,
  EventEmitter,
  l10n,
  MarkdownString,
  Range,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { Plan } from '../planner';
import type { Headline } from '../report/headline';
import { COMMANDS, type CommandTarget } from './command-names';
import { patiently } from './patience';
import type { Plans } from './plans';
import { type Scanned, scanFile, scanWorkspace } from './scan';
import { SECTION } from './settings';

const VIEW = 'kvPlanner.launches';

interface FileNode {
  readonly kind: 'file';
  readonly file: Scanned;
}

/** Also the target of the commands in its menu. */
interface LaunchNode extends CommandTarget {
  readonly kind: 'launch';
  readonly file: Scanned;
  readonly plan: Plan;
}

type Node = FileNode | LaunchNode;

interface FoundLaunch {
  readonly file: string;
  readonly title: string;
  readonly plan: string;
}

/** What a launch shows, made where the words are loaded. */
interface Words {
  readonly line: (plan: Plan) => Headline;
  readonly hover: (plan: Plan) => string;
  readonly range: (file: Scanned, plan: Plan) => Range;
}

export function registerLaunchTree(plans: Plans): Disposable {
  const changed = new EventEmitter<void>();
  const files = new Map<string, Scanned>();
  let words: Words | undefined;
  let scanned = false;
  let running: CancellationTokenSource | undefined;

  const view = window.createTreeView<Node>(VIEW, {
    showCollapseAll: true,
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getChildren: (node) => (node ? (node.kind === 'file' ? launchesOf(node.file) : []) : filesOf(files)),
      getTreeItem: (node) => (node.kind === 'file' ? fileItem(node.file) : launchItem(node, words)),
      resolveTreeItem(item, node) {
        if (node.kind === 'launch' && words) {
          item.tooltip = new MarkdownString(words.hover(node.plan), true);
        }
        return item;
      },
    },
  });

  const put = (key: string, file: Scanned | undefined): void => {
    if (file) {
      files.set(key, file);
    } else {
      files.delete(key);
    }
    view.badge = badgeOf(files);
    changed.fire();
  };

  /** Also answers with what the tree shows, for whoever runs the command. */
  const find = async (): Promise<readonly FoundLaunch[]> => {
    await commands.executeCommand(`${VIEW}.focus`);
    words ??= await loadWords();
    running?.cancel(); // asked again, the last search is of no use
    const mine = new CancellationTokenSource();
    running = mine;
    files.clear();
    put('', undefined);
    view.message = l10n.t('Looking for launches…');
    const found = (file: Scanned): void => {
      if (!mine.token.isCancellationRequested) {
        put(file.uri.toString(), file);
      }
    };
    const result = await patiently(
      l10n.t('Looking for launches'),
      (token, report) => scanWorkspace(plans, found, token, report),
      mine.token,
    );
    if (running !== mine) {
      return [];
    }
    scanned = true;
    await commands.executeCommand('setContext', 'kvPlanner.scanned', true);
    view.message = result
      ? result.all
        ? undefined
        : l10n.t('Only the first {0} files were looked at.', result.files)
      : l10n.t('Stopped before all files were looked at.');
    changed.fire();
    return filesOf(files).flatMap(({ file }) =>
      launchesOf(file).map((node) => {
        const { label, description } = launchItem(node, words);
        return { file: file.name, title: String(label), plan: String(description) };
      }),
    );
  };

  const look = async (uri: Uri): Promise<void> => put(uri.toString(), await scanFile(plans, uri));

  return Disposable.from(
    changed,
    view,
    commands.registerCommand(COMMANDS.findLaunches, find),
    plans.onDidChange(({ uri }) => {
      if (scanned && workspace.getWorkspaceFolder(uri)) {
        void look(uri);
      }
    }),
    workspace.onDidDeleteFiles((event) => {
      for (const uri of event.files) {
        put(uri.toString(), undefined);
      }
    }),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(SECTION)) {
        void Promise.all([...files.values()].map(({ uri }) => look(uri)));
      }
    }),
  );
}

async function loadWords(): Promise<Words> {
  const { headline, hoverText, linesOf } = await import('../lazy');
  return {
    line: headline,
    hover: (plan) => hoverText(plan, { kind: 'launch', range: plan.launch.head }),
    range: (file, { launch }) => {
      const lines = linesOf(file.text);
      const [start, end] = [lines.position(launch.head.start), lines.position(launch.head.end)];
      return new Range(start.line - 1, start.column - 1, end.line - 1, end.column - 1);
    },
  };
}

const filesOf = (files: ReadonlyMap<string, Scanned>): FileNode[] =>
  [...files.values()]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map((file) => ({ kind: 'file', file }) satisfies FileNode);

const launchesOf = (file: Scanned): LaunchNode[] =>
  file.plans.map((plan) => ({
    kind: 'launch',
    uri: file.uri.toString(),
    offset: plan.launch.head.start,
    file,
    plan,
  }));

function fileItem({ uri, name }: Scanned): TreeItem {
  const item = new TreeItem(uri, TreeItemCollapsibleState.Expanded);
  item.id = uri.toString();
  item.description = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '';
  item.contextValue = 'file';
  item.iconPath = ThemeIcon.File; // as the icon theme has it for this name
  return item;
}

const ICONS: Readonly<Record<Headline['tone'], readonly [string, string]>> = {
  good: ['pass', 'testing.iconPassed'],
  unsure: ['warning', 'problemsWarningIcon.foreground'],
  bad: ['error', 'problemsErrorIcon.foreground'],
  unknown: ['question', 'descriptionForeground'],
};

function launchItem(node: LaunchNode, words: Words | undefined): TreeItem {
  const { plan, file } = node;
  const item = new TreeItem(plan.launch.title);
  item.contextValue = 'launch';
  if (words) {
    const { tone, text } = words.line(plan);
    const [icon, colour] = ICONS[tone];
    item.iconPath = new ThemeIcon(icon, new ThemeColor(colour));
    item.description = `${text} · ${plan.engine.title} ${plan.engine.version.text}`;
    item.accessibilityInformation = { label: `${plan.launch.title}: ${item.description}` };
    item.command = {
      command: 'vscode.open',
      title: l10n.t('Open'),
      arguments: [Uri.parse(node.uri), { selection: words.range(file, plan) }],
    };
  }
  return item;
}

/** How many will not start. */
function badgeOf(files: ReadonlyMap<string, Scanned>): { value: number; tooltip: string } | undefined {
  const refused = [...files.values()].flatMap((file) => file.plans).filter((plan) => plan.starts === false).length;
  return refused === 0
    ? undefined
    : {
        value: refused,
        tooltip: refused === 1 ? l10n.t('1 launch will not start') : l10n.t('{0} launches will not start', refused),
      };
}
