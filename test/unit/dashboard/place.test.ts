import { describe, expect, it } from 'vitest';
import { placeOf, sightingOf } from '../../../src/dashboard/place';

const seen = (titles: readonly string[], index: number) => ({ index, sighting: sightingOf(titles, index) });

describe('the launch that is shown, after an edit', () => {
  const before = ['one', 'two', 'two'];
  it.each<[string, number, string[], { index: number; gone: boolean } | undefined]>([
    ['is found where another came before it', 1, ['zero', 'one', 'two', 'two'], { index: 2, gone: false }],
    ['is found where one before it went', 1, ['two', 'two'], { index: 0, gone: false }],
    ['is told from one of the same title', 2, ['two', 'one', 'two'], { index: 2, gone: false }],
    ['is the same under a new name', 0, ['uno', 'two', 'two'], { index: 0, gone: false }],
    ['is gone where there are fewer and none of its name', 0, ['two', 'two'], { index: 0, gone: true }],
    ['is gone where it was the last', 2, ['one', 'two'], { index: 1, gone: true }],
    ['is nowhere in an empty file', 0, [], undefined],
  ])('%s', (_, index, now, place) => {
    expect(placeOf(now, seen(before, index))).toEqual(place);
  });

  it('is known by its place alone after a reload', () => {
    expect(placeOf(before, { index: 1 })).toEqual({ index: 1, gone: false });
    expect(placeOf(before, { index: 7 })).toEqual({ index: 2, gone: true });
  });
});
