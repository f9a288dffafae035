/** The settings that are read, by name; each is declared in the manifest. */
import { type ConfigurationScope, workspace } from 'vscode';
import type { Overrides } from '../planner';

export const SECTION = 'kvPlanner';

type Surface = 'hover' | 'codeLens' | 'inlayHints' | 'completion' | 'diagnostics' | 'statusBar';

export const isEnabled = (surface: Surface, scope?: ConfigurationScope): boolean =>
  workspace.getConfiguration(SECTION, scope).get<unknown>(`${surface}.enabled`) !== false;

/** Whether the Hub is asked without a word from the user for what is not known on this machine. */
export const mayFetch = (): boolean => workspace.getConfiguration(SECTION).get<unknown>('fetchModelFacts') === true;

/** What is assumed where neither the file nor a directive says. */
export function assumed(scope: ConfigurationScope): Overrides {
  const settings = workspace.getConfiguration(SECTION, scope);
  const gpu = settings.get<unknown>('gpu');
  const gpus = countOf(settings.get<unknown>('gpus'));
  return {
    ...(typeof gpu === 'string' && gpu.trim() && { gpu: gpu.trim() }),
    ...(gpus && { gpus }),
    prompt: countOf(settings.get<unknown>('workload.prompt')) ?? '600',
    output: countOf(settings.get<unknown>('workload.output')) ?? '250',
  };
}

/** The editor underlines a value of the wrong type and hands it on all the same: it counts as not set. */
const countOf = (value: unknown): string | undefined =>
  Number.isSafeInteger(value) && Number(value) > 0 ? String(value) : undefined;
