/** What a launch of vLLM should know beyond its numbers: refusals that hang on no memory, and what a setting costs or gains. */
import type { Checked, Finding } from '../engine';
import { contextOf } from './check-context';
import { backendChecks } from './checks-backend';
import { cacheChecks } from './checks-cache';
import { memoryChecks } from './checks-memory';
import { optionChecks } from './checks-options';
import { prefixChecks } from './checks-prefix';
import type { VllmConfiguration } from './configure';

export function checksOf(checked: Checked<VllmConfiguration>): readonly Finding[] {
  const context = contextOf(checked);
  return [optionChecks, backendChecks, prefixChecks, cacheChecks, memoryChecks].flatMap((checks) => checks(context));
}
