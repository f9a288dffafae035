import { describe, expect, test } from 'vitest';
import { differences, vllmVectors } from '../truth/vectors';

describe('vectors made by vLLM’s own code, through the planner', () => {
  test('all are there', () => expect(vllmVectors()).toHaveLength(28));
  test.each(vllmVectors())('%s', (name, vector) => expect(differences(name, vector)).toEqual([]));
});
