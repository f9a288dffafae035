import { expect, test } from 'vitest';
import { chartLines } from '../../../src/report/chart';

test('bars are aligned, to an eighth of a character; something is never nothing', () => {
  const lines = chartLines([
    { label: 'weights', value: '40', share: 1 },
    { label: 'KV', value: '1', share: 1 / 320 },
    { label: '', value: '0', share: 0 },
    { label: 'dust', value: '~0', share: 1e-9 },
  ]);
  expect(lines).toEqual([`weights  ${'█'.repeat(40)} 40`, 'KV       ▏ 1', '          0', 'dust     ▏ ~0']);
});
