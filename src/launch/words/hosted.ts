/** Commands that hand a container to a cluster: `kubectl run NAME --image=IMAGE -- words`, `gcloud run deploy NAME --image IMAGE --args=a,b`. */
import type { HardwareHint } from '../launch';
import { type Mapped, part, rangeOf, unresolvedIn, withOwnLayers } from '../text/mapped';
import type { ContainerRun } from './container';
import { assignedName, type Variable } from './variable';

const VERBS: Readonly<Record<string, readonly string[]>> = { kubectl: ['run'], oc: ['run'], gcloud: ['run', 'deploy'] };

/** Undefined for any other command of those programs. */
export function readHostedRun(program: string, words: readonly Mapped[]): ContainerRun | undefined {
  const verb = VERBS[program];
  const after = words.findIndex((w, i) => i > 0 && w.text === '--');
  const own = after === -1 ? words : words.slice(0, after);
  const at = verb ? own.findIndex((_, i) => i > 0 && verb.every((v, j) => own[i + j]?.text === v)) : -1;
  const image = at === -1 ? undefined : said(own, '--image');
  if (!verb || !image || at > 4) {
    return undefined;
  }
  const given = after === -1 ? listOf(said(own, '--args')) : words.slice(after + 1);
  const command = listOf(said(own, '--command'));
  const isCommand = own.some((w) => w.text === '--command') && after !== -1;
  const entry = isCommand ? given : command.length > 0 ? command : undefined;
  return {
    image,
    words: isCommand ? [] : given,
    environment: environmentOf(own),
    hardware: hardwareOf(own),
    ...(entry ? { entry } : {}),
  };
}

/** `--x=value`, or the word behind `--x`. */
function said(words: readonly Mapped[], flag: string): Mapped | undefined {
  const at = words.findIndex((w) => w.text === flag || w.text.startsWith(`${flag}=`));
  const word = words[at];
  return word && (word.text.length > flag.length ? part(word, flag.length + 1, word.text.length) : words[at + 1]);
}

/** `a,b`: commas part the words, so that none of them holds one, and none is written there. */
function listOf(m: Mapped | undefined): readonly Mapped[] {
  const own = m ? [{ kind: 'pieces' as const, range: m.extent }] : [];
  return [...(m?.text.matchAll(/[^,]+/g) ?? [])].map((w) =>
    withOwnLayers(part(m as Mapped, w.index, w.index + w[0].length), own),
  );
}

function environmentOf(words: readonly Mapped[]): readonly Variable[] {
  const single = words.flatMap((w) => (w.text.startsWith('--env=') ? [part(w, 6, w.text.length)] : []));
  return [...single, ...listOf(said(words, '--set-env-vars'))].flatMap((m) => {
    const name = assignedName(m.text);
    return name === undefined ? [] : [{ name, value: part(m, name.length + 1, m.text.length), word: true as const }];
  });
}

function hardwareOf(words: readonly Mapped[]): HardwareHint {
  const [type, count] = ['--gpu-type', '--gpu'].map((flag) => said(words, flag));
  const gpu = type && unresolvedIn(type) === undefined ? { text: type.text, range: rangeOf(type) } : undefined;
  const number = count && /^[1-9]\d?$/.test(count.text) ? Number(count.text) : undefined;
  return {
    ...(gpu ? { gpu } : {}),
    ...(count && number !== undefined ? { count: { value: number, range: rangeOf(count) } } : {}),
  };
}
