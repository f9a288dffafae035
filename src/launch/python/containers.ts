/**
 * Containers that a program describes in a call: docker's and Podman's libraries (`containers.run(image, command, …)`,
 * docker-py 7, `docker/models/containers.py`), python-on-whales (`docker.run(image, words, gpus=…)`), and objects with an
 * image and words as Kubernetes' client and Airflow's operators have them (`V1Container(image=…, args=…)`).
 */
import type { LaunchEngine } from '../engines';
import type { HardwareHint } from '../launch';
import type { Mapped } from '../text/mapped';
import { part } from '../text/mapped';
import { gpuCount } from '../words/container';
import { readImage } from '../words/image';
import { splitWords } from '../words/split';
import type { Surroundings } from '../words/start';
import { assignedName, type Variable } from '../words/variable';
import { asText, asWord, type Given, type MapEntry, type Placed } from './values';

export interface ContainerCall extends Surroundings {
  readonly imageWord: Mapped;
  /** What runs instead of the image's entry point. */
  readonly entry?: readonly Mapped[];
  /** A text that is split; absent where the words are items of a list. */
  readonly text?: readonly Mapped[];
  readonly items: readonly Placed[];
}

const RUNS_IMAGE = /(?:^|\.)(?:containers\.(?:run|create)|docker\.run|docker\.container\.(?:run|create))$/;

const DESCRIBES = /(?:Container|PodOperator)$/;

/** Undefined for any other call, and for an image of no known engine. */
export function containerCall(
  name: string,
  args: Given,
  engines: readonly LaunchEngine[],
  written: (p: Placed) => string,
): ContainerCall | undefined {
  const runs = RUNS_IMAGE.test(name);
  const keyword = (...keys: readonly string[]) => args.keywords.findLast((k) => keys.includes(k.key));
  const named = keyword('image') ?? (runs ? args.positional[0] : undefined);
  const imageWord = named && asText(named.value) !== undefined ? asWord(named, written(named)) : undefined;
  const image = imageWord && readImage(imageWord, engines);
  if (!imageWord || !image) {
    return undefined;
  }
  const command = keyword('command', 'cmds') ?? (runs && named === args.positional[0] ? args.positional[1] : undefined);
  const given = keyword('args', 'arguments');
  const entry = keyword('entrypoint') ?? (runs ? undefined : command);
  const words = runs ? command : given;
  // An image alone is named in many a call.
  if (!runs && !command && !given && !DESCRIBES.test(name)) {
    return undefined;
  }
  const listed = words?.value.kind === 'list' ? words.value.items : [];
  return {
    imageWord,
    image,
    contained: true,
    environment: environmentOf(keyword('environment', 'env', 'env_vars', 'envs'), written),
    hardware: hardwareOf(args.keywords),
    ...(entry && asText(entry.value) !== '' ? { entry: wordsOf(entry, written) } : {}),
    ...(words?.value.kind === 'text' ? { text: splitWords(asWord(words, written(words))) } : {}),
    items: listed,
  };
}

const wordsOf = (placed: Placed, written: (p: Placed) => string): readonly Mapped[] =>
  placed.value.kind === 'list'
    ? placed.value.items.map((i) => asWord(i, written(i)))
    : placed.value.kind === 'text'
      ? splitWords(placed.value.text)
      : [];

/** `{"A": "b"}`, `["A=b"]`, `[V1EnvVar(name="A", value="b")]`. */
function environmentOf(placed: Placed | undefined, written: (p: Placed) => string): readonly Variable[] {
  if (placed?.value.kind === 'map') {
    return placed.value.entries.map((e) => ({ name: e.key, value: asWord(e, written(e)) }));
  }
  const items = placed?.value.kind === 'list' ? placed.value.items : [];
  return items.flatMap((item): readonly Variable[] => {
    if (item.value.kind === 'made') {
      const said = (key: string) => (item.value as { given: Given }).given.keywords.find((k) => k.key === key);
      const [name, value] = [said('name'), said('value')];
      const text = name && asText(name.value);
      return text !== undefined && value ? [{ name: text, value: asWord(value, written(value)) }] : [];
    }
    const word = asWord(item, written(item));
    const name = assignedName(word.text);
    return name === undefined ? [] : [{ name, value: part(word, name.length + 1, word.text.length) }];
  });
}

/** `device_requests=[DeviceRequest(count=2)]`, `gpus=2`, `resources=V1ResourceRequirements(limits={"nvidia.com/gpu": "2"})`. */
function hardwareOf(keywords: readonly MapEntry[]): HardwareHint {
  for (const { key, value, range } of keywords) {
    const text = key === 'gpus' ? asText(value) : undefined;
    const count = text === undefined ? undefined : gpuCount(text);
    if (count !== undefined && count > 0) {
      return { count: { value: count, range } };
    }
    const inner = value.kind === 'list' ? value.items : [{ value }];
    const asked = /^(?:device_requests|(?:container_)?resources)$/.test(key) ? inner : [];
    const found = asked.map((i) => countIn(i.value)).find((c) => c !== undefined);
    if (found) {
      return { count: found };
    }
  }
  return {};
}

function countIn(value: Placed['value']): HardwareHint['count'] {
  const entries = value.kind === 'made' ? value.given.keywords : value.kind === 'map' ? value.entries : [];
  for (const entry of entries) {
    if (entry.key === 'device_ids' && entry.value.kind === 'list' && entry.value.items.length > 0) {
      return { value: entry.value.items.length, range: entry.range };
    }
    if (entry.key === 'count' || /^(?:nvidia|amd)\.com\/gpu$/.test(entry.key)) {
      const number = /^[1-9]\d{0,3}$/.exec(asText(entry.value) ?? '')?.[0];
      if (number !== undefined) {
        return { value: Number(number), range: entry.range };
      }
    }
    const deeper = entry.key === 'limits' || entry.key === 'requests' ? countIn(entry.value) : undefined;
    if (deeper) {
      return deeper;
    }
  }
  return undefined;
}
