/** A launch on which nothing is tried. */
import type { Plan } from '../../../src/planner';
import type { WhatIf } from '../../../src/what-if';
import { knobsOf } from '../../../src/what-if/knobs';

export const untriedOf = (plan: Plan): WhatIf => ({
  written: plan,
  plan,
  input: { text: '', name: '' },
  context: {},
  knobs: knobsOf(plan),
  changes: [],
  refused: [],
  edits: [],
  unheld: [],
});
