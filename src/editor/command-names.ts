/** Our commands by name. */
export const COMMANDS = {
  showReport: 'kvPlanner.showReport',
  openDashboard: 'kvPlanner.openDashboard',
  setGpu: 'kvPlanner.setGpu',
  applyFix: 'kvPlanner.applyFix',
  copyHover: 'kvPlanner.copyHover',
  setModel: 'kvPlanner.setModel',
  chooseEngineVersion: 'kvPlanner.chooseEngineVersion',
  planSelection: 'kvPlanner.planSelection',
  solve: 'kvPlanner.solve',
  compareEngines: 'kvPlanner.compareEngines',
  compareWith: 'kvPlanner.compareWith',
  findLaunches: 'kvPlanner.findLaunches',
  fetchModelFacts: 'kvPlanner.fetchModelFacts',
  setHubToken: 'kvPlanner.setHubToken',
  openSample: 'kvPlanner.openSample',
  saveReport: 'kvPlanner.saveReport',
  copyReport: 'kvPlanner.copyReport',
} as const;

/** Where a command acts: sent as JSON by links, lenses and the status bar. */
export interface CommandTarget {
  readonly uri: string;
  /** Offset of the launch's head in the text. */
  readonly offset: number;
}

/** A command can be run by anyone with anything: what is not a target counts as none. */
export function targetOf(argument: unknown): CommandTarget | undefined {
  if (typeof argument !== 'object' || argument === null) {
    return undefined;
  }
  const { uri, offset } = argument as Partial<Record<keyof CommandTarget, unknown>>;
  return typeof uri === 'string' && typeof offset === 'number' ? { uri, offset } : undefined;
}
