import { describe, expect, it } from 'vitest';
import { readLaunches } from '../../../src/launch';
import { editOption } from '../../../src/launch/edit';

const compose = (command: string) =>
  `services:\n  a:\n    image: nvcr.io/nvidia/tensorrt-llm/release:1.1.0\n    command:\n${command
    .split(' ')
    .map((w) => `      - ${w}\n`)
    .join('')}`;

const read = (text: string) => readLaunches({ text, name: 'compose.yaml' }).launches;

describe('commands that start no server', () => {
  it.each(['trtllm-serve disaggregated -c a.yaml', 'trtllm-serve mm_embedding_serve m'])('%s', (command) => {
    expect(read(compose(command))).toEqual([]);
  });

  it.each(['trtllm-serve Qwen/Qwen3-8B', 'trtllm-serve serve Qwen/Qwen3-8B'])('but %s does', (command) => {
    expect(read(compose(command)).map((l) => [l.engine, l.model?.text])).toEqual([['tensorrt-llm', 'Qwen/Qwen3-8B']]);
  });
});

describe('edits in the words of the engine', () => {
  const text = compose('trtllm-serve Qwen/Qwen3-8B --tp_size 2');
  const [launch] = read(text);
  const edited = (name: string, value: string) =>
    launch && editOption(launch, text, name, value).map((e) => e.text.trim().replace(/\s+/g, ' '));

  it('a new flag keeps its underscores', () => {
    expect(edited('max_seq_len', '4096')).toEqual(['- --max_seq_len - "4096"']);
  });

  it('a key of a file is not put on a command line', () => {
    expect(edited('kv_cache_config.max_tokens', '4096')).toEqual([]);
  });

  it('an alias is changed where it stands', () => {
    expect(edited('tensor_parallel_size', '4')).toEqual(['4']);
  });
});
