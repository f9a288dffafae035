/** The engines a person can pick from, with the versions that have rules of their own. */
import { ENGINES } from '../core/engines';

export interface EngineChoice {
  readonly id: string;
  readonly title: string;
  /** Newest first. */
  readonly versions: readonly string[];
}

export const engineVersions = (): EngineChoice[] =>
  ENGINES.map(({ id, title, versions }) => ({ id, title, versions: [...versions].reverse() }));
