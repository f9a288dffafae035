/** The traffic that one replica serves. */
import { dealTraffic, generateTraffic, type Trace, type Traffic } from '../core/pool';
import type { Plan } from '../planner';

export interface TrafficAsked {
  readonly trace?: Trace;
  /** Requests to generate, all replicas together. */
  readonly requests: number;
  /** Requests a second, all replicas together; undefined: all at once. */
  readonly rate?: number;
  readonly seed: number;
  /** Conversations instead of single requests: turns of one, and seconds between two, on average. Generated traffic only. */
  readonly chat?: { readonly turns: number; readonly thinkSeconds: number };
  /** Tokens that every generated prompt begins with, before its own. */
  readonly sharedTokens?: number;
}

/** Requests are dealt to the replicas in turn; a conversation stays with its replica. */
export function trafficOf({ workload, placement, capacity }: Plan, asked: TrafficAsked): Traffic {
  const replicas = placement?.replicas ?? 1;
  if (asked.trace) {
    return replicas === 1 ? asked.trace.traffic : dealTraffic(asked.trace.traffic, replicas);
  }
  return generateTraffic({
    requests: Math.ceil(asked.requests / replicas),
    seed: asked.seed,
    arrivals: asked.rate === undefined ? { kind: 'at-once' } : { kind: 'poisson', rate: asked.rate / replicas },
    prompt: { kind: 'fixed', value: workload.prompt },
    output: { kind: 'fixed', value: workload.output },
    sharedPrefix: asked.sharedTokens === undefined ? undefined : { tokens: asked.sharedTokens },
    chat: asked.chat && {
      turns: { kind: 'fixed', value: asked.chat.turns },
      thinkSeconds: asked.chat.thinkSeconds,
      maxTokens: capacity?.maxLength,
    },
  });
}
