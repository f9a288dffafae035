/** Every fixture against what is expected of it. */
import { expect, test } from 'vitest';
import { FIXTURES } from './fixtures';
import { picture, readFully } from './support';

test.each(FIXTURES)('$name', async ({ name, text, expectedPath, given }) => {
  await expect(picture(text, await readFully(text, name, given))).toMatchFileSnapshot(expectedPath);
});
