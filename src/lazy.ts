/**
 * What takes time to load, behind one dynamic import: readers, engines, the catalogue, and the words made from a plan.
 * Nothing of it runs before a text that looks like a launch is opened.
 */
export { planView } from './dashboard/view-model';
export { gpuChoices } from './editor/gpu-list';
export { hoverTarget, hoverText } from './editor/hover-text';
export { lensLine, statusLine } from './editor/lines';
export { editOption } from './launch/edit';
export { loadGrammars } from './launch/shell/grammar';
export { planText, requestsByLength } from './planner';
export { reportMarkdown } from './report/markdown';
export { reportOf } from './report/sections';
