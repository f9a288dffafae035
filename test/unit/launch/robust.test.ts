/** Whatever the text: no exception, places inside the text, bounded time. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of shells
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FORMS } from '../../../src/launch/forms';
import type { Form, ReadResult, TextRange } from '../../../src/launch/launch';
import { FIXTURES } from './fixtures';
import { bash, loadedGrammars, read, readFully, runs } from './support';

function ranges(result: ReadResult): readonly TextRange[] {
  const ofLaunches = result.launches.flatMap((l) => [
    l.range,
    l.head,
    ...l.options.flatMap((o) => [o.range, o.nameRange, ...(o.valueRange ? [o.valueRange] : [])]),
    ...(l.model ? [l.model.range] : []),
    ...(l.version ? [l.version.range] : []),
    ...l.directives.flatMap((d) => [d.range, d.valueRange]),
    ...(l.insertion ? [{ start: l.insertion.at, end: l.insertion.at }] : []),
  ]);
  return [...ofLaunches, ...result.problems.flatMap((p) => (p.range ? [p.range] : []))];
}

function expectSound(text: string, result: ReadResult): void {
  for (const { start, end } of ranges(result)) {
    if (!(start >= 0 && start <= end && end <= text.length)) {
      expect.fail(`range ${start}…${end} in a text of ${text.length}: ${JSON.stringify(text)}`);
    }
  }
}

const PIECES = [
  '"',
  "'",
  '\\',
  '\n',
  '\r\n',
  '  ',
  '$',
  '${',
  '}',
  '{',
  '[',
  ']',
  '- ',
  ': ',
  '#',
  '\0',
  '\t',
  '&a ',
  '*a',
  '<<: ',
  '|\n',
  '>',
  '😀',
  '`',
  '$(',
  ')',
  '((',
  'EOF',
  '--- ',
  '!!x ',
  '--max-model-len',
  '=',
  ';',
  '\uFEFF',
  '\ud800',
];

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat(12),
  piece: fc.constantFrom(...PIECES, ''),
});

/** No input of 100 KB may take this long. Processor time: a busy machine is not to blame. */
const LONGEST = 2_000;

function milliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

test('mutated fixtures', async () => {
  for (const { name, text, given } of FIXTURES) {
    await readFully(text, name, given);
  }
  const loaded = loadedGrammars();
  const of = fc.constantFrom(...FIXTURES);
  fc.assert(
    fc.property(of, fc.array(mutation, { minLength: 1, maxLength: 6 }), ({ name, text, given }, mutations) => {
      const mutated = mutations.reduce((t, m) => {
        const at = Math.floor(m.at * t.length);
        return t.slice(0, at) + m.piece + t.slice(at + m.cut);
      }, text);
      const before = milliseconds();
      expectSound(mutated, read(mutated, name, { ...given, ...(loaded ? { grammars: loaded } : {}) }));
      expect(milliseconds() - before).toBeLessThan(LONGEST);
    }),
    { numRuns: runs(1200) },
  );
});

/** Words that open a form, so that random text gets into it. */
const OPENERS = [
  'vllm serve m ',
  'services:',
  'image: vllm/vllm-openai',
  'command:',
  'containers:',
  'FROM m\nPARAMETER num_ctx ',
  '[Service]\nExecStart=llama-server ',
  '[*]\nctx-size = ',
  'models:\n  m:\n    cmd: llama-server ',
  'macros:\n  a: "${b}"\n',
  'OLLAMA_NUM_PARALLEL=',
  'VLLM_ARGS="--max-num-seqs ',
  'actor_rollout_ref:\n  rollout: {name: vllm, ',
  'from vllm import LLM\nLLM(model="m", ',
  '```bash\n',
];

test('any text in any form', async () => {
  const grammars = await bash();
  const any = fc.array(fc.oneof(fc.constantFrom(...PIECES, ...OPENERS), fc.string({ unit: 'binary', maxLength: 8 })), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(any, fc.constantFrom<Form>(...FORMS.map((f) => f.form)), (pieces, form) => {
      const text = pieces.join('');
      const before = milliseconds();
      expectSound(text, read(text, 'x', { form, grammars: loadedGrammars() ?? grammars }));
      expect(milliseconds() - before).toBeLessThan(LONGEST);
    }),
    { numRuns: runs(800) },
  );
});

test('a quote that the last line of a cell leaves open ends with the text', async () => {
  const text = "x=1\n!vllm serve Qwen/Qwen3-14B --max-model-len 8192'";
  const result = await readFully(text, 'cell.ipynb');
  expect(result.problems).toHaveLength(1);
  expectSound(text, result);
});

test('fixtures many times over, up to 100 KB', async () => {
  for (const { name, text, given } of FIXTURES) {
    await readFully(text, name, given);
  }
  const loaded = loadedGrammars();
  fc.assert(
    fc.property(fc.constantFrom(...FIXTURES), fc.constantFrom('', '\n', '---\n'), ({ name, text, given }, between) => {
      const long = `${text}${between}`.repeat(Math.ceil(100_000 / (text.length + 4))).slice(0, 100_000);
      const before = milliseconds();
      expectSound(long, read(long, name, { ...given, ...(loaded ? { grammars: loaded } : {}) }));
      expect(milliseconds() - before, name).toBeLessThan(LONGEST);
    }),
    { numRuns: Math.min(runs(8), 300) },
  );
});

const laughs = (): string => {
  const lines = [
    'a0: &a0 [--x, --y]',
    ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`),
  ];
  return `${lines.join('\n')}\nservices:\n  x: {image: vllm/vllm-openai, command: *a30}\n`;
};

const merges = (): string => {
  const lines = [
    'm0: &m0 {image: vllm/vllm-openai}',
    ...Array.from({ length: 40 }, (_, i) => `m${i + 1}: &m${i + 1} {<<: [${Array(9).fill(`*m${i}`).join(', ')}]}`),
  ];
  return `${lines.join('\n')}\nservices:\n  x: {<<: *m40, command: --max-num-seqs 4}\n`;
};

test.each([
  ['aliases that multiply', laughs(), 'compose.yaml'],
  ['merges that multiply', merges(), 'compose.yaml'],
  ['an alias of itself', 'services: &a\n  x: *a\n  y: {<<: *a, image: vllm/vllm-openai}\n', 'compose.yaml'],
  ['deep flow', `services: ${'['.repeat(50_000)}`, 'compose.yaml'],
  ['deep blocks', `services:\n  ${'- '.repeat(40_000)}a`, 'compose.yaml'],
  [
    'deep braces',
    `services:\n  a:\n    image: vllm/vllm-openai\n    command: "${'${a:-'.repeat(20_000)}"`,
    'compose.yaml',
  ],
  ['deep substitutions', `vllm serve ${'$('.repeat(20_000)}`, 'x.sh'],
  ['deep defaults', `vllm serve ${'${a:-'.repeat(5_000)}x${'}'.repeat(5_000)}`, 'x.sh'],
  ['deep ifs', `${'if x; then\n'.repeat(2_000)}vllm serve m\n${'fi\n'.repeat(2_000)}`, 'x.sh'],
  ['a function that calls itself', 'f() { vllm serve m; f; }\nf', 'x.sh'],
  ['an array that doubles', `A=(x y)\n${'A+=("${A[@]}")\n'.repeat(60)}vllm serve "\${A[@]}"`, 'x.sh'],
  ['a text that doubles', `A=xxxx\n${'A="$A$A"\n'.repeat(60)}vllm serve $A`, 'x.sh'],
  [
    'variables of a pod that double',
    `apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - image: vllm/vllm-openai\n      env:\n        - {name: A0, value: xxxx}\n${Array.from({ length: 60 }, (_, i) => `        - {name: A${i + 1}, value: $(A${i})$(A${i})}\n`).join('')}      args: [$(A60)]\n`,
    'x.yaml',
  ],
  ['a Python list that doubles', `c = ["vllm", "serve"]\n${'c = c + c\n'.repeat(60)}`, 'x.py'],
  ['a Python text that doubles', `x = "vllm "\n${'x = f"{x}{x}"\n'.repeat(60)}import os; os.system(x)`, 'x.py'],
  [
    'Python lists of lists',
    `from vllm import LLM\na0 = [1, 1]\n${Array.from({ length: 40 }, (_, i) => `a${i + 1} = [a${i}, a${i}]\n`).join('')}LLM("m", hf_overrides={"a": a40})`,
    'x.py',
  ],
  [
    'a path that doubles',
    `from pathlib import Path\nx = Path("a")\n${'x = x / x\n'.repeat(60)}import os; os.system(f"vllm serve {x}")`,
    'x.py',
  ],
  ['commands inside commands', `${'cmd /c '.repeat(5_000)}llama-server -m a.gguf -c 5`, 'x.bat'],
  ['brackets that do not close', `vllm serve a ${'('.repeat(20_000)}`, 'x.ps1'],
  ['quotes of quotes', `${'>'.repeat(20_000)} \`\`\`bash\nvllm serve a\n\`\`\`\n`, 'x.md'],
  ['deep Python brackets', `from vllm import LLM\nLLM(${'('.repeat(20_000)}`, 'x.py'],
  [
    'a Python function that calls itself',
    'from vllm import LLM\ndef f(x):\n    LLM("m", seed=x)\n    f(x + 1)\nf(1)',
    'x.py',
  ],
  [
    'deep Python blocks',
    `import vllm\n${Array.from({ length: 400 }, (_, i) => `${' '.repeat(i)}if x:\n`).join('')}`,
    'x.py',
  ],
  [
    'Make variables that double',
    `${Array.from({ length: 40 }, (_, i) => `A${i} = $(A${i + 1})$(A${i + 1})\n`).join('')}A40 = vllm\nx:\n\t$(A0) serve\n`,
    'Makefile',
  ],
  ['a Make variable of itself', 'A = $(A) vllm\nx:\n\tvllm serve $(A)\n', 'Makefile'],
  [
    'just values that double',
    `a0 := "vllm"\n${Array.from({ length: 40 }, (_, i) => `a${i + 1} := a${i} + a${i}\n`).join('')}x:\n  vllm serve {{a40}}\n`,
    'justfile',
  ],
  ['batch values that double', `set A=vllm\n${'set A=%A%%A%\n'.repeat(60)}vllm serve %A%`, 'x.bat'],
  [
    'PowerShell values that double',
    `$a = "vllm"\n${'$a = "$a$a"\n'.repeat(60)}${'$a += $a\n'.repeat(60)}vllm serve $a`,
    'x.ps1',
  ],
  ['deep HCL', `vllm = ${'['.repeat(50_000)}`, 'x.tf'],
  ['deep HCL blocks', `${'vllm {\n'.repeat(20_000)}`, 'x.tf'],
  ['HCL references', `image = "vllm/vllm-openai"\nargs = ["${'${'.repeat(20_000)}"]`, 'x.tf'],
  ['many fences', `vllm serve\n${'```sh\nvllm serve m\n```\n'.repeat(5_000)}`, 'x.md'],
  [
    'a large Dockerfile',
    `FROM vllm/vllm-openai\nENV A=m\n${'ENV A=$A$A\n'.repeat(3_000)}CMD ["--model", "$A"]`,
    'Dockerfile',
  ],
  ['a justfile that is no recipe', `vllm serve m ${'--max-num-seqs 4 '.repeat(6_000)}`, 'justfile'],
  [
    'templates in a row',
    `services:\n  a:\n    image: vllm/vllm-openai\n    command: ${'{{ x }}'.repeat(20_000)}\n`,
    'compose.yaml',
  ],
  ['quotes', `vllm serve ${'"\''.repeat(50_000)}`, 'x.sh'],
  ['one long line', `vllm serve m ${'--max-num-seqs 4 '.repeat(6_000)}`, 'x.sh'],
  [
    'a long folded command',
    `services:\n  a:\n    image: vllm/vllm-openai\n    command: >\n${'      --max-num-seqs 4\n'.repeat(5_000)}`,
    'compose.yaml',
  ],
  [
    'many services',
    `services:\n${Array.from({ length: 2_000 }, (_, i) => `  s${i}: {image: vllm/vllm-openai, command: [--max-num-seqs, "4"]}\n`).join('')}`,
    'compose.yaml',
  ],
])('bounded: %s', async (_what, text, name) => {
  await readFully('import vllm', 'x.py');
  await readFully('vllm serve m', 'x.sh');
  const grammars = loadedGrammars() ?? (await bash());
  const before = performance.now();
  expectSound(text, read(text, name, { grammars }));
  // A runaway guard: each takes a fraction of this.
  expect(performance.now() - before).toBeLessThan(4_000);
});

/** Maps in one another, one space further in each, and lists in brackets in the innermost. */
const nested = (maps: number, lists: number): string => {
  const lines = Array.from({ length: maps }, (_, i) => `${' '.repeat(i)}a:\n`);
  return `${lines.join('')}${' '.repeat(maps)}${'['.repeat(lists)}x${']'.repeat(lists)}\n`;
};

test.each([
  ['maps', nested(99, 0), nested(100, 0)],
  ['lists', nested(0, 99), nested(0, 100)],
  ['half of each', nested(50, 49), nested(50, 50)],
  ['items', `a:\n  ${'- '.repeat(98)}x\n`, `a:\n  ${'- '.repeat(99)}x\n`],
  ['items and lists', `a:\n  ${'- '.repeat(49)}${'['.repeat(49)}x\n`, `a:\n  ${'- '.repeat(49)}${'['.repeat(50)}x\n`],
])('a hundred levels of %s are read, and one more is not', (_what, most, more) => {
  const messages = (text: string) =>
    read(`apiVersion: v1\nkind: X\nimage: vllm/vllm-openai\n${text}`, 'pods.yaml').problems.map((p) => p.message);
  const refused = expect.stringContaining('nested more than 100 deep');
  expect(messages(most)).not.toContainEqual(refused);
  expect(messages(more)).toContainEqual(refused);
});

test('too big and too deep are said, and the other documents are read', async () => {
  const good =
    'apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - {name: a, image: vllm/vllm-openai, args: [--model=m]}\n';
  const deep = read(`${good}---\napiVersion: v1\nkind: X\na: ${'['.repeat(200)}\n---\n${good}`, 'pods.yaml');
  expect(deep.launches).toHaveLength(2);
  expect(deep.problems.map((p) => p.message)).toEqual([expect.stringContaining('nested more than 100 deep')]);
  const big = read(`${good}---\napiVersion: v1\nkind: X\na: ${'x'.repeat(2 * 1024 * 1024)}\n---\n${good}`, 'pods.yaml');
  expect(big.launches).toHaveLength(2);
  expect(big.problems.map((p) => p.message)).toEqual([expect.stringContaining('over 2 MB')]);
});

test('a large file is read as far as is said, or not at all', () => {
  const pod = 'apiVersion: v1\nkind: Pod\nspec: {containers: [{image: vllm/vllm-openai}]}\n---\n';
  const many = read(pod.repeat(100_000), 'pods.yaml');
  expect(many.launches).toHaveLength(2_000);
  expect(many.problems).toEqual([
    expect.objectContaining({ message: expect.stringContaining('read up to 4 MB and 2000 documents') }),
  ]);
  expect(many.problems[0]?.range?.start).toBe(pod.length * 2_000 - '---\n'.length);
  for (const name of ['x.sh', 'Modelfile', '.env', 'a.service', 'config.pbtxt', 'x.py', 'Dockerfile', 'x.md']) {
    const large = read('vllm serve ollama\n'.repeat(1_000_000), name);
    expect([large.launches, large.problems.map((p) => p.message)]).toEqual([
      [],
      ['This file is over 2 MB and was not read'],
    ]);
  }
  expect(read('x\n'.repeat(2_000_000), 'x.sh').problems).toEqual([]);
});
