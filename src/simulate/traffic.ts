/** The traffic that one replica serves. */
import { generateTraffic, type Run, type Trace, type Traffic, trafficBuilder } from '../core/pool';
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
    return replicas === 1 ? asked.trace.traffic : dealt(asked.trace.traffic, replicas);
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

function dealt(traffic: Traffic, replicas: number): Traffic {
  const builder = trafficBuilder(traffic.name, traffic.constantOutput);
  /** Index in the new traffic, or −1 where another replica serves it. */
  const moved = new Int32Array(traffic.count).fill(-1);
  let heads = 0;
  for (let i = 0; i < traffic.count; i++) {
    const after = traffic.after[i] ?? -1;
    const mine = after < 0 ? heads++ % replicas === 0 : (moved[after] ?? -1) >= 0;
    if (mine) {
      moved[i] = builder.add({
        arrival: traffic.arrivals[i],
        after: after < 0 ? -1 : moved[after],
        prompt: promptOf(traffic, i),
        output: traffic.outputs[i] ?? 1,
        limit: traffic.limits[i],
        outputSource: traffic.outputSources[i],
        session: traffic.sessions[i],
      });
    }
  }
  return builder.build();
}

function promptOf({ contents, firstRuns, prompts }: Traffic, request: number): Run[] {
  const runs: Run[] = [];
  let left = prompts[request] ?? 0;
  for (let run = firstRuns[request] ?? 0; left > 0; run++) {
    const count = contents.counts[run] ?? left;
    runs.push({ source: contents.sources[run] ?? 0, first: contents.firsts[run] ?? 0, count });
    left -= count;
  }
  return runs;
}
