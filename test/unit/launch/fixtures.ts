/**
 * The fixtures: `test/fixtures/launch/FORM/NAME` is one if `NAME.expected` stands beside it, and holds the `picture` of
 * all that is read of it. Any other file in its folder is one that the fixture may name (`.env`, `engine.yaml`).
 * A new one: write it, `touch NAME.expected`, run this folder's fixtures.test.ts with `--update`, and check the picture
 * by hand: every option with its line, and its text at the range between « and ».
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Given } from './support';

export interface Fixture {
  /** Path below the folder of fixtures; its first part is the form. */
  readonly name: string;
  readonly text: string;
  readonly expectedPath: string;
  /** For `read`: the files beside it. */
  readonly given: Given;
}

const ROOT = fileURLToPath(new URL('../../fixtures/launch/', import.meta.url));

export const FIXTURES: readonly Fixture[] = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.expected'))
  .map((name) => fixture(name.replace(/\.expected$/, '').replaceAll('\\', '/')))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

function fixture(name: string): Fixture {
  const folder = dirname(join(ROOT, name));
  const files = new Proxy<Record<string, string>>({}, { get: (_, path) => besides(folder, String(path)) });
  return {
    name,
    text: readFileSync(join(ROOT, name), 'utf8'),
    expectedPath: `${join(ROOT, name)}.expected`,
    given: { files },
  };
}

/** Nothing outside the fixture's own folder. */
function besides(folder: string, path: string): string | undefined {
  const at = join(folder, path);
  return !relative(folder, at).startsWith('..') && statSync(at, { throwIfNoEntry: false })?.isFile()
    ? readFileSync(at, 'utf8')
    : undefined;
}
