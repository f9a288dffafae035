/** Every fixture against what is expected of it, and the promises about places that hold for all of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bash, picture, read } from './support';

const folder = fileURLToPath(new URL('../../fixtures/launch/', import.meta.url));
const fixtures = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => /\.(?:sh|ya?ml)$/.test(f));

test.each(fixtures)('%s', async (name) => {
  const text = readFileSync(folder + name, 'utf8');
  const result = read(text, name, { grammars: await bash() });
  expect(picture(text, result)).toBe(readFileSync(`${folder}${name}.expected`, 'utf8'));
});
