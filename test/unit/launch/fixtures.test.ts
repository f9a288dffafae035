/** Every fixture against what is expected of it. */
import { expect, test } from 'vitest';
import { FORMS } from '../../../src/launch/forms';
import { FIXTURES } from './fixtures';
import { picture, readFully } from './support';

test.each(FIXTURES)('$name', async ({ name, text, expectedPath, given }) => {
  await expect(picture(text, await readFully(text, name, given))).toMatchFileSnapshot(expectedPath);
});

test('there are many, and every form has one', async () => {
  expect(FIXTURES.length).toBeGreaterThanOrEqual(120);
  const seen = new Set<string>();
  for (const { name, text, given } of FIXTURES) {
    for (const { form } of (await readFully(text, name, given)).launches) {
      seen.add(form);
    }
  }
  // TabbyAPI is known so as to say that it is not planned.
  expect(FORMS.map((f) => f.form).filter((form) => form !== 'tabby' && !seen.has(form))).toEqual([]);
});
