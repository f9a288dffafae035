/**
 * What takes time to load, behind one dynamic import: readers, engines, the catalogue, and the words made from a plan.
 * Nothing of it runs before a text that looks like a launch is opened.
 */

export { compareEngines } from './compare';
export { engineTitles } from './core/engines';
export { comparisonView } from './dashboard/compare-view';
export { studiesView } from './dashboard/studies-view';
export { planView } from './dashboard/view-model';
export { effectLine, fixTitle } from './editor/before-after';
export { engineVersions } from './editor/engine-list';
export { gpuChoices } from './editor/gpu-list';
export { findingsAt, hoverTarget, hoverText } from './editor/hover-text';
export { fetchFacts, HubError } from './editor/hub-client';
export { hintsOf } from './editor/inlay-text';
export { lensLine, statusLine } from './editor/lines';
export { modelChoices } from './editor/model-list';
export { proposalsAt } from './editor/proposals';
export { signatureOf } from './editor/signature';
export { editDirective } from './launch/directive-edit';
export { editFix, editOption } from './launch/edit';
export { loadGrammars } from './launch/grammar/load';
export { linesOf } from './launch/lines';
export { pastedText } from './launch/pasted';
export { planSteps, requestsByLength } from './planner';
export { tryingOn } from './planner/alternatives';
export { safeFixes } from './planner/fix-effects';
export { gpuOffers } from './planner/gpu-offers';
export { changesReport } from './report/changes-report';
export { compareJson } from './report/compare-json';
export { compareReport } from './report/compare-report';
export { reportCsv } from './report/csv';
export { findingsReport } from './report/findings-report';
export { headline } from './report/headline';
export { reportHtml } from './report/html';
export { planJson } from './report/json';
export { reportMarkdown } from './report/markdown';
export { reportOf } from './report/sections';
export { solveJson } from './report/solve-json';
export { solveReport } from './report/solve-report';
export { solveOne } from './solve';
export { tryOut } from './what-if';
export { studiesOf } from './what-if/studies';
