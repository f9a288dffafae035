/** A start of an engine as its words say it, and what stands around it. */
import type { Binding, StartWords } from '../../core/engines/start-words';
import type { LaunchEngine } from '../engines';
import type { HardwareHint, TextRange } from '../launch';
import type { Mapped } from '../text/mapped';
import type { Rollout } from './hydra';
import type { Image } from './image';
import type { Variable } from './variable';

/** What stands around the command: it holds for a script inside it as well. */
export interface Surroundings {
  readonly environment: readonly Variable[];
  readonly hardware: HardwareHint;
  readonly image?: Image;
  /** In a container of its own: variables around the command do not reach it. */
  readonly contained?: true;
}

export interface Start extends Surroundings {
  readonly kind: 'start';
  readonly engine: LaunchEngine;
  /** The words that start the engine. */
  readonly head: TextRange;
  readonly words: readonly Mapped[];
  readonly positionalModel: boolean;
  /** It asks a running server for a model. */
  readonly client?: Client;
  /** A trainer's command: its overrides are the engine's settings. */
  readonly rollout?: Rollout;
  /** The server is a binding's: its words are that one's. */
  readonly binding?: Binding;
}

export type Client = NonNullable<StartWords['clients']>[number];

/** `bash -c "…"`: the commands are inside. */
export interface Script extends Surroundings {
  readonly kind: 'script';
  readonly script: Mapped;
}

export type Found = Start | Script;

export const NOTHING: Surroundings = { environment: [], hardware: {} };

/** The same with more around it. Written out: one shape for every start. */
export function surrounded(
  found: Found,
  environment: readonly Variable[],
  hardware: HardwareHint,
  image = found.image,
): Found {
  const { contained } = found;
  if (found.kind === 'script') {
    return { kind: 'script', environment, hardware, image, contained, script: found.script };
  }
  const { engine, head, words, positionalModel, client, rollout, binding } = found;
  return {
    kind: 'start',
    environment,
    hardware,
    image,
    contained,
    engine,
    head,
    words,
    positionalModel,
    client,
    rollout,
    binding,
  };
}

/** What the nearer one says counts. */
export const nearer = (outer: HardwareHint, inner: HardwareHint): HardwareHint => ({
  gpu: inner.gpu ?? outer.gpu,
  count: inner.count ?? outer.count,
  nodes: inner.nodes ?? outer.nodes,
});

/** A start of this engine with these options, whatever words there are. */
export function started(
  { environment, hardware, image, contained }: Surroundings,
  engine: LaunchEngine,
  head: TextRange,
  words: readonly Mapped[],
  positionalModel: boolean,
): Start {
  return { kind: 'start', environment, hardware, image, contained, engine, head, words, positionalModel };
}
