import { expect, it } from 'vitest';
import { recent } from '../../../src/editor/recent';

it('keeps the latest, by number and by weight, whatever is put in', () => {
  const few = recent<string>(100, 10);
  const heavy = recent<string>(100, 1000, (_, value) => value.length);
  for (let n = 0; n < 1000; n++) {
    few.set(`key ${n}`, '');
    few.get('key 0'); // asked for again and again, it stays
    heavy.set(`key ${n}`, 'x'.repeat(30));
  }
  const there = (kept: typeof few) =>
    Array.from({ length: 1000 }, (_, n) => n).filter((n) => kept.get(`key ${n}`) !== undefined);
  expect(there(few)).toEqual([0, 991, 992, 993, 994, 995, 996, 997, 998, 999]);
  expect(there(heavy)).toEqual([997, 998, 999]);
  heavy.set('too much', 'x'.repeat(101));
  expect(heavy.get('too much')).toBeUndefined();
  expect([heavy.delete('key 999'), heavy.delete('key 999')]).toEqual([true, false]);
  heavy.clear();
  heavy.set('a', 'x'.repeat(100));
  expect(heavy.get('a')).toBeDefined();
});
