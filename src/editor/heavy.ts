/**
 * What takes time to load, behind one dynamic import: readers, engines, the catalogue, and the words made from a plan.
 * Nothing of it runs before a text that looks like a launch is opened.
 */
export { editOption } from '../launch/edit';
export { planText, requestsByLength } from '../planner';
export { reportMarkdown } from '../report/markdown';
export { reportOf } from '../report/sections';
export { gpuChoices } from './gpu-list';
export { hoverTarget, hoverText } from './hover-text';
export { lensLine, statusLine } from './lines';
