/** Findings that take more than one launch, or the text itself: cards that are shared or idle, a config that is not read. */
import { engineOf } from '../core/engines';
import type { Finding, Fix } from '../core/engines/engine';
import type { OptionRole, OptionSpec } from '../core/engines/option';
import { formatBytes, withCommas } from '../core/units';
import type { LaunchOption } from '../launch/launch';
import type { Lines } from '../launch/lines';
import type { Plan } from '../planner';
import { type Located, placeFindings } from './findings';

export function withFileFindings(plans: readonly Plan[], text: string, lines: Lines): readonly Plan[] {
  return plans.map((plan, at) => {
    const found: readonly Located[] = [
      ...sharedCard(plan, plans.slice(0, at), text, lines),
      ...idleGpus(plan),
      ...unreadConfig(plan, text),
    ];
    if (found.length === 0) {
      return plan;
    }
    const doubtful = plan.starts === true && found.some(({ finding }) => finding.refuses === 'perhaps');
    return {
      ...plan,
      starts: doubtful ? 'unknown' : plan.starts,
      findings: [...plan.findings, ...placeFindings(plan.launch, found, lines)],
    };
  });
}

const specOf = (plan: Plan, role: OptionRole): OptionSpec | undefined =>
  engineOf(plan.engine.id)?.options.find((o) => o.role === role);

const optionOf = (plan: Plan, role: OptionRole): string | undefined => specOf(plan, role)?.name;

/** Numbers of the GPUs a launch may use, where the file names them. */
function devicesOf({ launch }: Plan, text: string): readonly string[] {
  const variable = ['CUDA_VISIBLE_DEVICES', 'NVIDIA_VISIBLE_DEVICES']
    .map((name) => launch.environment.get(name))
    .find((value) => value !== undefined);
  const { count } = launch.hardware;
  const written = variable ?? (count ? text.slice(count.range.start, count.range.end) : '');
  const listed = variable !== undefined || /device|["'[\]]|^\s*-/.test(written);
  return listed ? (written.match(/GPU-[\w-]+|\b\d+\b/g) ?? []) : [];
}

/** What a launch may take of one card, as a share of it; undefined where that is not a share of the whole. */
function shareOf({ budget }: Plan): number | undefined {
  return budget && budget.limit.value / budget.total.value;
}

/** Two servers on one card: the one that starts second finds less free than it wants. */
function sharedCard(plan: Plan, before: readonly Plan[], text: string, lines: Lines): readonly Located[] {
  const own = devicesOf(plan, text);
  const share = shareOf(plan);
  const option = optionOf(plan, 'memory-share');
  const others = before.filter((p) => devicesOf(p, text).some((device) => own.includes(device)));
  const taken = others.reduce((sum, p) => sum + (shareOf(p) ?? 0), 0);
  if (share === undefined || option === undefined || taken === 0 || taken + share <= 1.0005) {
    return [];
  }
  const device = own.find((d) => others.some((p) => devicesOf(p, text).includes(d)));
  const names = others.map((p) => `${p.launch.title} (line ${lines.line(p.launch.head.start)})`).join(', ');
  const left = Math.floor((1 - taken) * 100 + 1e-6) / 100;
  const fixes: readonly Fix[] =
    left >= 0.05 && specOf(plan, 'memory-share')?.shareOf === 'card'
      ? [{ title: `Set ${option} to ${left}: what ${names} leaves of the card`, option, value: String(left) }]
      : [];
  return [
    {
      finding: {
        code: 'card-shared',
        severity: 'warning',
        option,
        message: `GPU ${device} is shared with ${names}: together they ask for ${(taken + share).toFixed(2)} of its memory. Whichever starts second finds less free than it wants.`,
        fixes,
      },
    },
  ];
}

/** GPUs that the file gives to this launch and that it leaves idle. */
function idleGpus(plan: Plan): readonly Located[] {
  const { launch, placement, model, planned } = plan;
  const offered = launch.hardware.count?.value;
  if (offered === undefined || !placement || !model || !planned) {
    return [];
  }
  const used = (placement.tensor * placement.pipeline * placement.replicas) / placement.attentionData;
  if (used >= offered || placement.attentionData > 1) {
    return [];
  }
  const [tensor, data] = [optionOf(plan, 'tensor'), optionOf(plan, 'data')];
  const wide = offered / placement.pipeline / placement.replicas;
  const replicas = offered / placement.tensor / placement.pipeline;
  const fixes: Fix[] = [];
  if (tensor !== undefined && Number.isInteger(wide) && model.attentionHeads % wide === 0) {
    fixes.push({
      title: `Set ${tensor} to ${wide}: each replica on ${wide} GPUs`,
      option: tensor,
      value: String(wide),
    });
  }
  if (data !== undefined && Number.isInteger(replicas)) {
    fixes.push({ title: `Set ${data} to ${replicas}: ${replicas} replicas`, option: data, value: String(replicas) });
  }
  const finding: Finding = {
    code: 'gpus-idle',
    severity: 'information',
    message: `The file gives this launch ${withCommas(offered)} GPUs and it uses ${withCommas(used)}${idleMemory(plan, offered - used)}.`,
    option: tensor,
    fixes,
  };
  return [{ finding, range: launch.hardware.count?.range }];
}

function idleMemory({ hardware }: Plan, idle: number): string {
  const memory = hardware && hardware.memory.value * idle;
  return memory === undefined ? '' : `: ${formatBytes(memory)} of GPU memory stay idle`;
}

/** The engines look for two words, and read nothing from one. */
function unreadConfig({ launch, engine }: Plan, text: string): readonly Located[] {
  const { configOption: name, configRules } = engineOf(engine.id)?.start ?? {};
  const option = launch.options.findLast((o) => o.name === name && o.from === undefined);
  if (!option?.valueRange) {
    return [];
  }
  const attached = text.slice(option.nameRange.end, option.valueRange.start).startsWith('=');
  if (!attached || configRules?.attached) {
    const read = launch.options.some((o) => o.from !== undefined) || isWritten(String(option.value), text);
    return read ? [] : [notAtHand(option)];
  }
  return [
    {
      finding: {
        code: 'config-not-read',
        severity: 'warning',
        option: name,
        message: `${engine.title} reads the options of a file only when the file is a word of its own: --${name} ${option.raw}. Written with =, the file is not read.`,
        fixes: [],
      },
      range: option.range,
    },
  ];
}

/** The text itself writes that file: `cat > extra.yaml <<EOF`. */
function isWritten(path: string, text: string): boolean {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?:>|\\btee\\b[^\\n]*?)\\s*["']?${escaped}\\b`).test(text);
}

/** Paths inside a container mostly: what stands in the file may change everything that is said of the launch. */
const notAtHand = (option: LaunchOption): Located => ({
  finding: {
    code: 'config-not-at-hand',
    severity: 'warning',
    option: option.name,
    message: `${option.raw} could not be read here, so the options in it are not counted: the plan is without them.`,
    fixes: [],
    refuses: 'perhaps',
  },
  range: option.range,
});
