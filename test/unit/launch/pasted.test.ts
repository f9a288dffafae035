import { expect, test } from 'vitest';
import { pastedText } from '../../../src/launch/pasted';

test.each([
  ['a bare command stays', 'vllm serve a/b', 'vllm serve a/b'],
  ['a prompt goes', '$ vllm serve a/b', '  vllm serve a/b'],
  ['a prompt with host and folder goes', 'root@gpu-1:~/x# vllm serve a/b', '                vllm serve a/b'],
  ['a comment stays', '# vllm serve a/b', '# vllm serve a/b'],
  ['variables stay', '$VLLM serve a/b', '$VLLM serve a/b'],
  [
    'only what stands in fences counts',
    'Try `x`:\n```sh\nvllm serve a/b\n```\nor not',
    '        \n     \nvllm serve a/b\n   \n      ',
  ],
  ['a shorter fence inside ends nothing', '````\nvllm\n```\nserve\n````', '    \nvllm\n```\nserve\n    '],
  ['line ends stay', 'Text\r\n~~~\r\nvllm\r\n~~~\r\n', '    \r\n   \r\nvllm\r\n   \r\n'],
])('%s', (_, text, code) => expect(pastedText(text)).toBe(code));
