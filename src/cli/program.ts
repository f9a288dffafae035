/** The command line's words: what is accepted, and what is said when it is not. */
import { Command, CommanderError, Option } from 'commander';
import { version } from '../../package.json';
import type { Form } from '../launch/launch';
import type { Overrides } from '../planner';
import { rate, size, wholeNumber, word } from './arguments';
import { COMPARE_FORMATS, type CompareOptions, compare } from './compare';
import { COMPARE_EXAMPLES, EXAMPLES, EXITS, SIMULATE_EXAMPLES, SOLVE_EXAMPLES } from './help';
import type { ExitCode, Io } from './io';
import type { FilesAsked } from './plan-files';
import { FORMATS, type Format, type ReportOptions, report } from './report';
import { SIMULATE_FORMATS, type SimulateOptions, simulate } from './simulate';
import { SOLVE_FORMATS, type SolveOptions, solve } from './solve';

/** `yaml` leaves it to the content which of the YAML forms it is. */
const FORMS = [
  'shell',
  'yaml',
  'compose',
  'kubernetes',
  'helm',
  'ray-serve',
  'skypilot',
  'ansible',
  'taskfile',
  'ci',
  'truss',
  'dstack',
  'bentoml',
  'vllm-config',
  'sglang-config',
  'trtllm-config',
  'trtllm-engine',
  'srt-slurm',
  'triton',
  'modelfile',
  'env-file',
  'systemd',
  'llama-preset',
  'llama-swap',
  'localai',
  'verl',
  'python',
  'notebook',
  'dockerfile',
  'makefile',
  'justfile',
  'markdown',
  'powershell',
  'batch',
  'hcl',
  'cerebrium',
] as const;

/** Runs one command line; the exit code is the answer. */
export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = programOf(io, {
    report: async (options) => {
      code = await report(options, io);
    },
    solve: async (options) => {
      code = await solve(options, io);
    },
    compare: async (options) => {
      code = await compare(options, io);
    },
    simulate: async (options) => {
      code = await simulate(options, io);
    },
  });
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      return 2;
    }
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? 0 : 2;
    }
    throw error;
  }
}

interface Commands {
  readonly report: (options: ReportOptions) => Promise<void>;
  readonly solve: (options: SolveOptions) => Promise<void>;
  readonly compare: (options: CompareOptions) => Promise<void>;
  readonly simulate: (options: SimulateOptions) => Promise<void>;
}

function programOf(io: Io, run: Commands): Command {
  const program = new Command('kv-planner')
    .description('Plans the KV cache of LLM servers from the files that start them, before any weight is loaded.')
    .version(version, '--version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: (text) => io.note(text.trimEnd()),
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
    })
    .showHelpAfterError('Try --help.');
  reportCommand(program, run.report);
  solveCommand(program, run.solve);
  compareCommand(program, run.compare);
  simulateCommand(program, run.simulate);
  return program;
}

/** What every command that plans files takes. */
interface Asked extends Record<string, unknown> {
  readonly engine?: string;
  readonly form?: (typeof FORMS)[number];
  readonly name?: string;
}

function planningCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument('<FILE...>', 'files that start an engine; - is standard input')
    .addOption(new Option('--form <FORM>', 'read the input as this form, whatever its name').choices(FORMS))
    .option('--name <NAME>', 'file name to assume for standard input')
    .option('--gpu <NAME>', 'GPU, when the file does not say: H100-80GB, L4 …', word)
    .option('--gpus <N>', 'how many of them', wholeNumber(1))
    .option('--gpu-memory <SIZE>', 'memory of one GPU as its driver reports it: 79.19GiB', size)
    .option('--engine <ENGINE[@VERSION]>', 'engine and version: vllm@0.28')
    .option('--model <ID>', 'model id, when the file does not say', word)
    .option('--model-config <PATH>', 'config.json of the model, the folder that holds it, or its GGUF file')
    .option(
      '--kv-memory <SIZE>',
      'KV cache of one GPU when it is known, as from a log: 58.11GiB; a bare number is bytes',
      size,
    )
    .option('--prompt <N>', 'prompt length of the workload (default: 600)', wholeNumber(1))
    .option('--output <N>', 'output length of the workload (default: 250)', wholeNumber(1));
}

interface RawReport extends Asked {
  readonly format: Format;
  readonly requireConcurrency?: number;
  readonly requireStart?: boolean;
}

function reportCommand(program: Command, run: Commands['report']): void {
  planningCommand(program, 'report', 'Plan every launch in the files, or on standard input (-).')
    .addOption(new Option('--format <FORMAT>', 'how to print it').choices(FORMATS).default('text'))
    .option(
      '--require-concurrency <N>',
      'exit with 3 when fewer requests fit at once, all replicas together',
      wholeNumber(1),
    )
    .option('--require-start', 'exit with 3 unless the engine will start')
    .addHelpText('after', EXAMPLES + EXITS)
    .action(async (files: string[], raw: RawReport, command: Command) => {
      await checkEngine(raw.engine, command);
      await run({
        ...filesAsked(files, raw, command),
        format: raw.format,
        require: { concurrency: raw.requireConcurrency, start: raw.requireStart === true },
      });
    });
}

interface RawSolve extends Asked {
  readonly concurrency: number;
  readonly length?: number;
  readonly format: (typeof SOLVE_FORMATS)[number];
}

function solveCommand(program: Command, run: Commands['solve']): void {
  planningCommand(program, 'solve', 'Find the smallest changes of each launch that serve a number of requests at once.')
    .requiredOption('--concurrency <N>', 'requests to serve at once, all replicas together', wholeNumber(1))
    .option('--length <L>', 'tokens of each, prompt and output (default: those of the workload)', wholeNumber(2))
    .addOption(new Option('--format <FORMAT>', 'how to print it').choices(SOLVE_FORMATS).default('text'))
    .addHelpText('after', SOLVE_EXAMPLES + EXITS)
    .action(async (files: string[], raw: RawSolve, command: Command) => {
      await checkEngine(raw.engine, command);
      await run({
        ...filesAsked(files, raw, command),
        target: { concurrency: raw.concurrency, length: raw.length },
        format: raw.format,
      });
    });
}

interface RawCompare extends Asked {
  readonly engines?: string;
  readonly format: (typeof COMPARE_FORMATS)[number];
}

function compareCommand(program: Command, run: Commands['compare']): void {
  planningCommand(program, 'compare', 'Plan the model of each launch on several engines, and say why they differ.')
    .option('--engines <LIST>', 'engines with commas between, with or without a version (default: all that are known)')
    .addOption(new Option('--format <FORMAT>', 'how to print it').choices(COMPARE_FORMATS).default('text'))
    .addHelpText('after', COMPARE_EXAMPLES + EXITS)
    .action(async (files: string[], raw: RawCompare, command: Command) => {
      await checkEngine(raw.engine, command);
      await run({
        ...filesAsked(files, raw, command),
        engines: await enginesOf(raw.engines, command),
        format: raw.format,
      });
    });
}

interface RawSimulate extends Asked {
  readonly trace?: string;
  readonly requests?: number;
  readonly rate?: number;
  readonly seed: number;
  readonly turns?: number;
  readonly think: number;
  readonly system?: number;
  readonly bench?: string;
  readonly format: (typeof SIMULATE_FORMATS)[number];
}

function simulateCommand(program: Command, run: Commands['simulate']): void {
  planningCommand(program, 'simulate', 'Let each launch serve traffic: what fits, waits, is preempted and wasted.')
    .option('--trace <FILE>', 'requests to serve (default: requests of the workload)', word)
    .option('--requests <N>', 'how many to generate (default: 1000), or the most of the trace', wholeNumber(1))
    .option(
      '--rate <R>',
      'requests a second, all replicas together (default: all at once, or the times of the trace)',
      rate,
    )
    .option('--seed <S>', 'of what is drawn by chance', wholeNumber(0), 1)
    .addOption(
      new Option('--turns <N>', 'conversations of N turns; the prompt is each turn’s message')
        .argParser(wholeNumber(1))
        .conflicts('trace'),
    )
    .option('--think <SECONDS>', 'between two turns, on average', rate, 30)
    .addOption(
      new Option('--system <N>', 'tokens of a system prompt that all prompts begin with')
        .argParser(wholeNumber(1))
        .conflicts('trace'),
    )
    .option('--bench <RESULT>', 'result of the kernel benchmark, to weigh block sizes by', word)
    .addOption(new Option('--format <FORMAT>', 'how to print it').choices(SIMULATE_FORMATS).default('text'))
    .addHelpText('after', SIMULATE_EXAMPLES + EXITS)
    .action(async (files: string[], raw: RawSimulate, command: Command) => {
      await checkEngine(raw.engine, command);
      if (raw.turns === undefined && command.getOptionValueSource('think') === 'cli' && raw.trace === undefined) {
        command.error('error: --think is the time between turns: say how many there are with --turns');
      }
      if (raw.trace !== undefined && (raw.prompt !== undefined || raw.output !== undefined)) {
        command.error('error: --prompt and --output are lengths of generated requests: those of a --trace are its own');
      }
      const { trace, requests, seed, turns, think, system, bench, format } = raw;
      const traffic = { trace, requests, rate: raw.rate, seed, turns, think, system, bench };
      await run({ ...filesAsked(files, raw, command), ...traffic, format });
    });
}

async function enginesOf(list: string | undefined, command: Command): Promise<CompareOptions['engines']> {
  const { ENGINES, engineNamed } = await import('../core/engines');
  if (list === undefined) {
    return ENGINES.map(({ id }) => ({ id }));
  }
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) {
    command.error('error: --engines names no engine');
  }
  for (const name of names) {
    if (VERSION.test(name)) {
      command.error(`error: unknown engine '${name}': a version needs its engine, as in vllm@${name}`);
    }
    await checkEngine(name, command);
  }
  return names.map((name) => {
    const [written = '', version] = name.split('@', 2);
    const id = engineNamed(written)?.id ?? written;
    return version === undefined ? { id } : { id, version };
  });
}

/** `vllm`, `vllm@0.28`, or a version alone. The list of engines is loaded only when one is named. */
async function checkEngine(text: string | undefined, command: Command): Promise<void> {
  if (text === undefined || VERSION.test(text)) {
    return;
  }
  const [name, version] = text.split('@', 2);
  const { ENGINES, engineNamed } = await import('../core/engines');
  if (!engineNamed(name ?? '')) {
    command.error(`error: unknown engine '${name}': known are ${ENGINES.map(({ id }) => id).join(', ')}`);
  }
  if (version !== undefined && !VERSION.test(version)) {
    command.error(`error: '${version}' is no version of ${name}: write ${name}@0.28`);
  }
}

const VERSION = /^[vb]?\d+(\.\d+)*/;

function filesAsked(files: string[], raw: Asked, command: Command): FilesAsked {
  const inputs = files.filter((f) => f === '-').length;
  if (inputs > 1) {
    command.error('error: standard input (-) can be named once');
  }
  if (raw.name !== undefined && inputs === 0) {
    command.error('error: --name is for standard input: name - as a file');
  }
  return {
    files,
    form: raw.form === 'yaml' ? undefined : (raw.form satisfies Form | undefined),
    name: raw.name ?? (raw.form === 'yaml' ? 'stdin.yaml' : 'stdin'),
    flags: flagsOf(raw),
  };
}

const FLAGS = {
  gpu: 'gpu',
  gpus: 'gpus',
  gpuMemory: 'gpu-memory',
  engine: 'engine',
  model: 'model',
  modelConfig: 'model-config',
  kvMemory: 'kv-memory',
  prompt: 'prompt',
  output: 'output',
} as const;

function flagsOf(raw: Asked): Overrides {
  const flags: Overrides = {};
  for (const [key, flag] of Object.entries(FLAGS)) {
    if (raw[key] !== undefined) {
      flags[flag] = String(raw[key]);
    }
  }
  return flags;
}
