/** The command line's words: what is accepted, and what is said when it is not. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { version } from '../../package.json';
import { parseBytes } from '../core/units';
import type { Form } from '../launch/launch';
import type { Overrides } from '../planner';
import type { ExitCode, Io } from './io';
import { FORMATS, type Format, type ReportOptions, report } from './report';

/** `yaml` leaves it to the content which of the YAML forms it is. */
const FORMS = ['shell', 'yaml', 'compose', 'kubernetes', 'vllm-config'] as const;

const EXITS = `
Exit status:
  0  every launch was planned
  1  some launch could not be planned, or a file could not be read or holds no launch
  2  wrong usage
  3  every launch was planned, but a requirement is not met
When several apply, 2 comes before 1, and 1 before 3.
`;

const EXAMPLES = `
Examples:
  kv-planner report compose.yaml
  kv-planner report serve.sh --gpu H100-80GB --gpus 8 --format markdown
  kv-planner report compose.yaml --require-start --require-concurrency 64
  echo 'vllm serve Qwen/Qwen3-8B -tp 2' | kv-planner report - --gpu L4
`;

/** Runs one command line; the exit code is the answer. */
export async function main(args: readonly string[], io: Io): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = programOf(io, async (options) => {
    code = await report(options, io);
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

function programOf(io: Io, run: (options: ReportOptions) => Promise<void>): Command {
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
  reportCommand(program, run);
  return program;
}

interface Raw extends Record<string, unknown> {
  readonly engine?: string;
  readonly form?: (typeof FORMS)[number];
  readonly name?: string;
  readonly format: Format;
  readonly requireConcurrency?: number;
  readonly requireStart?: boolean;
}

function reportCommand(program: Command, run: (options: ReportOptions) => Promise<void>): void {
  program
    .command('report')
    .description('Plan every launch in the files, or on standard input (-).')
    .argument('<FILE...>', 'files that start an engine; - is standard input')
    .addOption(new Option('--form <FORM>', 'read the input as this form, whatever its name').choices(FORMS))
    .option('--name <NAME>', 'file name to assume for standard input')
    .option('--gpu <NAME>', 'GPU, when the file does not say: H100-80GB, L4 …')
    .option('--gpus <N>', 'how many of them', wholeNumber(1))
    .option('--gpu-memory <SIZE>', 'memory of one GPU as its driver reports it: 79.19GiB', size)
    .option('--engine <ENGINE[@VERSION]>', 'engine and version: vllm@0.28')
    .option('--model <ID>', 'model id, when the file does not say')
    .option('--model-config <PATH>', 'config.json of the model, or the folder that holds it')
    .option(
      '--kv-memory <SIZE>',
      'KV cache of one GPU when it is known, as from a log: 58.11GiB; a bare number is bytes',
      size,
    )
    .option('--prompt <N>', 'prompt length of the workload (default: 600)', wholeNumber(0))
    .option('--output <N>', 'output length of the workload (default: 250)', wholeNumber(1))
    .addOption(new Option('--format <FORMAT>', 'how to print it').choices(FORMATS).default('text'))
    .option(
      '--require-concurrency <N>',
      'exit with 3 when fewer requests fit at once, all replicas together',
      wholeNumber(1),
    )
    .option('--require-start', 'exit with 3 unless the engine will start')
    .addHelpText('after', EXAMPLES + EXITS)
    .action(async (files: string[], raw: Raw, command: Command) => {
      await checkEngine(raw.engine, command);
      await run(reportOptions(files, raw, command));
    });
}

/** `vllm`, `vllm@0.28`, or a version alone. The list of engines is loaded only when one is named. */
async function checkEngine(text: string | undefined, command: Command): Promise<void> {
  if (text === undefined || VERSION.test(text)) {
    return;
  }
  const [name, version] = text.split('@', 2);
  const ids = (await import('../core/engines')).ENGINES.map((engine) => engine.id);
  if (!ids.includes(name ?? '')) {
    command.error(`error: unknown engine '${name}': known are ${ids.join(', ')}`);
  }
  if (version !== undefined && !VERSION.test(version)) {
    command.error(`error: '${version}' is no version of ${name}: write ${name}@0.28`);
  }
}

const VERSION = /^v?\d+(\.\d+)*/;

function reportOptions(files: string[], raw: Raw, command: Command): ReportOptions {
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
    format: raw.format,
    require: { concurrency: raw.requireConcurrency, start: raw.requireStart === true },
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

function flagsOf(raw: Raw): Overrides {
  const flags: Overrides = {};
  for (const [key, flag] of Object.entries(FLAGS)) {
    if (raw[key] !== undefined) {
      flags[flag] = String(raw[key]);
    }
  }
  return flags;
}

const wholeNumber =
  (least: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} on.`);
    }
    return value;
  };

function size(text: string): string {
  if (!parseBytes(text)) {
    throw new InvalidArgumentError('It must be a size as 58.11GiB or 80GB, or a number of bytes.');
  }
  return text;
}
