import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { run } from './run';

const readme = readFileSync('README.md', 'utf8');
const examples = [...readme.matchAll(/```console\n\$ node dist\/cli\.js (.*)\n([\s\S]*?)```/g)];

test('the README shows examples', () => expect(examples.length).toBeGreaterThan(1));

test.each(examples.map(([, args = '', shown = '']) => [args, shown]))(
  'README: %s prints what is shown',
  async (args, shown) => {
    const { out } = await run(args.split(' '));
    // Each excerpt stands in the output, in this order; `…` stands for what is left out.
    let at = 0;
    for (const part of shown.split('…\n').filter((text) => text.trim())) {
      const found = out.indexOf(part, at);
      expect(found, part).toBeGreaterThanOrEqual(at);
      at = found + part.length;
    }
  },
);

test('the README names every flag', async () => {
  const { out } = await run(['report', '--help']);
  const flags = new Set([...out.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag));
  expect(flags.size).toBeGreaterThan(12);
  for (const flag of flags) {
    expect(readme).toContain(flag);
  }
});
