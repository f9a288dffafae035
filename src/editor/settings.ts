/** The settings that are read, by name; each is declared in the manifest. */
import { type ConfigurationScope, workspace } from 'vscode';
import type { Overrides } from '../planner';

export const SECTION = 'kvPlanner';

type Surface = 'hover' | 'codeLens' | 'inlayHints' | 'completion' | 'diagnostics' | 'statusBar';

export const isEnabled = (surface: Surface, scope?: ConfigurationScope): boolean =>
  workspace.getConfiguration(SECTION, scope).get(`${surface}.enabled`, true);

/** Whether the Hub is asked without a word from the user for what is not known on this machine. */
export const mayFetch = (): boolean => workspace.getConfiguration(SECTION).get<boolean>('fetchModelFacts', false);

/** What is assumed where neither the file nor a directive says. */
export function assumed(scope: ConfigurationScope): Overrides {
  const settings = workspace.getConfiguration(SECTION, scope);
  const gpu = settings.get<string>('gpu', '').trim();
  const gpus = settings.get<number | null>('gpus', null);
  return {
    ...(gpu && { gpu }),
    ...(gpus && { gpus: String(gpus) }),
    prompt: String(settings.get<number>('workload.prompt', 600)),
    output: String(settings.get<number>('workload.output', 250)),
  };
}
