/** Whether a text can start an engine at all: a look at its words, before anything is parsed or loaded. */
import type { LaunchEngine } from './engines';

export const mentionsEngine = (text: string, engines: readonly LaunchEngine[]): boolean =>
  engines.some((e) => startWords(e).some((w) => text.includes(w)) || hasCommon(text, e) || hasImage(text, e));

const hasCommon = (text: string, { start: { commonCommand: common } }: LaunchEngine): boolean =>
  common !== undefined && text.includes(common.name) && common.beside.test(text);

function startWords({ start }: LaunchEngine): readonly string[] {
  const commands = start.commands.map((c) => c[0] ?? '');
  const modules = start.modules.map((m) => m.split('.')[0] ?? '');
  // A package that also starts other things is told by the name of the call.
  const python = (start.python ?? []).flatMap((p) => (p.only ? p.names : [p.module]));
  return [...commands, ...modules, ...python].filter((w) => w !== '');
}

function hasImage(text: string, { start }: LaunchEngine): boolean {
  for (const [name] of text.matchAll(/[\w.-]+(?:\/[\w.-]+)+/g)) {
    if (start.images.some((i) => i.test(name))) {
      return true;
    }
  }
  return false;
}
