/**
 * What the dashboard's page and its host say to each other: the one file that both import. The host words and computes
 * everything; the page draws it.
 */
export { PROTOCOL } from './protocol/base';
export type { BenchShape } from './protocol/bench';
export { type ComparisonView, type Pin, type Pinnable, readPins } from './protocol/compare';
export { type Controls, type Field, KNOBS, type WhatIf } from './protocol/controls';
export {
  type Method,
  type Params,
  type Result,
  readParams,
  readResult,
  readToHost,
  readToPage,
  type Shown,
  type ToHost,
  type ToPage,
} from './protocol/messages';
export type {
  BudgetView,
  FactView,
  FindingView,
  PlanView,
  RequestsView,
  Segment,
  View,
} from './protocol/plan';
export type { PoolPart } from './protocol/pool';
export { type HostState, type KeptState, type PageState, readState } from './protocol/state';
export type {
  BlocksView,
  HeatView,
  LongestView,
  StudiesView,
  WasteKind,
  WasteView,
} from './protocol/studies';
