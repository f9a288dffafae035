/** What a launch of vLLM should know that neither refuses it nor shows in a number. */
import type { Checked, Finding } from '../engine';
import type { VllmConfiguration } from './configure';

export function checksOf(_checked: Checked<VllmConfiguration>): readonly Finding[] {
  return [];
}
