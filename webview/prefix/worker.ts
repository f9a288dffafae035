/** Runs what the prefix view asks, beside the page. */
import {
  createTraceReader,
  fixedClock,
  generateTraffic,
  promptReuse,
  rooflineClock,
  type Traffic,
  trafficReuse,
} from '../../src/core/pool';
import type { Question, Reply, Rules, TrafficAsked } from './messages';

/** Seconds of a step where the GPU's speed is not known: the times then mean nothing, and are not shown. */
const UNKNOWN_STEP = 0.02;
/** A trace is run several times over; a longer one is cut. */
const MOST_REQUESTS = 20_000;

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Question & { readonly id: number }>) => void;
  postMessage(reply: Reply): void;
};

scope.onmessage = ({ data }) => {
  try {
    scope.postMessage({ id: data.id, answer: answerTo(data) });
  } catch (error) {
    scope.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
  }
};

function answerTo(question: Question): unknown {
  const { world, machine } = question.rules;
  if (question.kind === 'prompts') {
    return question.sizes.map((sizes) => promptReuse(sizes, world, machine));
  }
  const { traffic, notes } = trafficOf(question.traffic, question.rules);
  return { ...trafficReuse(traffic, world, clockOf(question.rules), machine), notes };
}

function clockOf({ machine, stages }: Rules) {
  const one = machine ? rooflineClock(machine) : fixedClock(UNKNOWN_STEP);
  return stages > 1 ? (step: Parameters<typeof one>[0]) => one(step) * stages : one;
}

function trafficOf(asked: TrafficAsked, { maxLength }: Rules): { traffic: Traffic; notes: readonly string[] } {
  if (asked.kind === 'trace') {
    const reader = createTraceReader({
      mostRequests: MOST_REQUESTS,
      rate: asked.rate,
      thinkSeconds: asked.think,
      seed: asked.seed,
    });
    reader.push(asked.text);
    const { traffic, problems, problemCount, notes } = reader.end();
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
