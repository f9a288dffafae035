/** Runs what the prefix view asks, beside the page. */
import { fixedClock, generateTraffic, pairReuse, rooflineClock, type Traffic, trafficReuse } from '../../src/core/pool';
import { createTraceStore } from '../trace-reader';
import type { Question, Reply, Rules, TrafficAsked } from './messages';

/** Seconds of a step where the GPU's speed is not known: the times then mean nothing, and are not shown. */
const UNKNOWN_STEP = 0.02;
/** A trace is run several times over; a longer one is cut. */
const MOST_REQUESTS = 20_000;

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Question & { readonly id: number }>) => void;
  postMessage(reply: Reply): void;
};

const traces = createTraceStore(MOST_REQUESTS);
let latest = 0;

scope.onmessage = async ({ data }) => {
  latest = data.kind === 'traffic' ? data.id : latest;
  try {
    scope.postMessage({ id: data.id, answer: await answerTo(data, data.id) });
  } catch (error) {
    scope.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
};

async function answerTo(question: Question, id: number): Promise<unknown> {
  if (question.kind === 'prompts') {
    return pairReuse(question.pair, question.rules);
  }
  const { world, machine } = question.rules;
  const { traffic, notes } = await trafficOf(question.traffic, question.rules, id);
  return { ...trafficReuse(traffic, world, clockOf(question.rules), machine), notes };
}

function clockOf({ machine, stages }: Rules) {
  const one = machine ? rooflineClock(machine) : fixedClock(UNKNOWN_STEP);
  return stages > 1 ? (step: Parameters<typeof one>[0]) => one(step) * stages : one;
}

interface Made {
  readonly traffic: Traffic;
  readonly notes: readonly string[];
}

async function trafficOf(asked: TrafficAsked, { maxLength }: Rules, id: number): Promise<Made> {
  if (asked.kind === 'trace') {
    const reader = await traces.read(
      asked.file,
      (share) => scope.postMessage({ id, share }),
      () => id === latest,
    );
    if (!reader) {
      throw new Error('Something else was asked.'); // nobody waits for this answer any more
    }
    const { traffic, problems, problemCount, notes } = reader.end({
      rate: asked.rate,
      thinkSeconds: asked.think,
      seed: asked.seed,
    });
    if (traffic.count === 0) {
      throw new Error(problems[0] ? `Line ${problems[0].line}: ${problems[0].message}` : 'No request was found in it.');
    }
    const left =
      problemCount > 0
        ? [`${problemCount} rows are left out, the first at line ${problems[0]?.line}: ${problems[0]?.message}`]
        : [];
    return { traffic, notes: [...left, ...notes] };
  }
  const { requests, turns, think, system, rate, prompt, output, seed } = asked;
  const traffic = generateTraffic({
    requests,
    seed,
    arrivals: { kind: 'poisson', rate },
    prompt: { kind: 'fixed', value: prompt },
    output: { kind: 'fixed', value: output },
    ...(system > 0 && { sharedPrefix: { tokens: system } }),
    ...(turns > 1 && { chat: { turns: { kind: 'fixed', value: turns }, thinkSeconds: think, maxTokens: maxLength } }),
  });
  return { traffic, notes: [] };
}
