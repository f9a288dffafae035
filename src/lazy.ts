/**
 * What takes time to load, behind one dynamic import: readers, engines, the catalogue, and the words made from a plan.
 * Nothing of it runs before a text that looks like a launch is opened.
 */
export { planView } from './dashboard/view-model';
export { effectLine, fixTitle } from './editor/before-after';
export { gpuChoices } from './editor/gpu-list';
export { findingsAt, hoverTarget, hoverText } from './editor/hover-text';
export { lensLine, statusLine } from './editor/lines';
export { editDirective } from './launch/directive-edit';
export { editFix } from './launch/edit';
export { loadGrammars } from './launch/shell/grammar';
export { planText, requestsByLength } from './planner';
export { tryingOn } from './planner/alternatives';
export { safeFixes } from './planner/fix-effects';
export { gpuOffers } from './planner/gpu-offers';
export { reportMarkdown } from './report/markdown';
export { reportOf } from './report/sections';
