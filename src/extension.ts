/** Activation: registers, and returns. What is heavy is loaded on first use. */
import { type ExtensionContext, window } from 'vscode';
import { memoryIn } from './dashboard/memory';
import { createDashboard, VIEW_TYPE } from './dashboard/panel';
import { registerChoices } from './editor/choices';
import { registerCodeLens } from './editor/code-lens';
import { registerCommands, runOn } from './editor/commands';
import { registerCompare } from './editor/compare';
import { registerCompletion } from './editor/completion';
import { registerDiagnostics } from './editor/diagnostics';
import { registerDirectiveSignature } from './editor/directive-signature';
import { registerFacts } from './editor/facts-commands';
import { olderTexts } from './editor/git';
import { createGrammars } from './editor/grammars';
import { registerHover } from './editor/hover';
import { registerInlayHints } from './editor/inlay-hints';
import { registerLaunchTree } from './editor/launch-tree';
import { createModelFacts } from './editor/model-facts';
import { registerPages } from './editor/pages';
import { createPlans } from './editor/plans';
import { registerQuickFixes } from './editor/quick-fix';
import { registerReportCommands } from './editor/report-commands';
import { registerSolve } from './editor/solve';
import { registerStatusBar } from './editor/status-bar';
import { registerTools } from './editor/tools';
import { registerWalkthrough } from './editor/walkthrough';

export function activate(context: ExtensionContext): void {
  const log = window.createOutputChannel('KV Planner', { log: true });
  const facts = createModelFacts(context, log);
  const plans = createPlans(createGrammars(context.extensionUri, log), facts, log);
  const pages = registerPages(plans);
  const memory = memoryIn(context.workspaceState);
  const dashboard = createDashboard(context.extensionUri, { ...plans, run: runOn, olderTexts }, memory);
  context.subscriptions.push(
    log,
    facts,
    plans,
    pages,
    dashboard,
    registerCommands(plans, pages, dashboard.show),
    registerReportCommands(plans, pages),
    registerSolve(plans, pages),
    registerCompare(plans, pages),
    registerChoices(plans),
    registerLaunchTree(plans),
    registerFacts(plans, facts),
    registerTools(plans),
    registerWalkthrough(context.extensionUri),
    registerHover(plans),
    registerCodeLens(plans),
    registerInlayHints(plans),
    registerCompletion(plans),
    registerDirectiveSignature(),
    registerDiagnostics(plans),
    registerQuickFixes(plans),
    registerStatusBar(plans),
    window.registerWebviewPanelSerializer(VIEW_TYPE, {
      deserializeWebviewPanel: (panel, state) => dashboard.restore(panel, state),
    }),
  );
}
