/** What the page asks of its worker for prefixes, and gets. */

import type { Machine, PairReuse, PairRules, PromptPair, TrafficReuse, WorldOptions } from '../../src/core/pool';
import type { TraceFile } from '../trace-reader';

/** The rules of a launch that is simulated. */
export interface Rules {
  readonly world: WorldOptions;
  readonly machine?: Machine;
  readonly stages: number;
  readonly maxLength: number;
}

/** Traffic made here: conversations, or a trace's text. */
export interface Pace {
  /** Requests, or conversations, that begin in a second. */
  readonly rate: number;
  /** Seconds between an answer and the next question, on average. */
  readonly think: number;
  readonly seed: number;
}

export type TrafficAsked = Pace &
  (
    | {
        readonly kind: 'talks';
        readonly requests: number;
        readonly turns: number;
        readonly system: number;
        readonly prompt: number;
        readonly output: number;
      }
    | { readonly kind: 'trace'; readonly file: TraceFile }
  );

export type Question =
  | { readonly kind: 'prompts'; readonly rules: PairRules; readonly pair: PromptPair }
  | { readonly kind: 'traffic'; readonly rules: Rules; readonly traffic: TrafficAsked };

export type ReplyTo<Q extends Question> = Q extends { kind: 'prompts' }
  ? PairReuse
  : TrafficReuse & { readonly notes: readonly string[] };

/** `id` is the question's. `share`: so much of its trace has been read; the answer comes later. */
export type Reply =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly share: number }
  | { readonly id: number; readonly error: string };
