import { describe, expect, test } from 'vitest';
import { PEERS, peerFigures, peerPlan } from '../truth/peers';

describe.each(PEERS)('$model', (peer) => {
  test('one GPU, one batch in flight', () => {
    const { payload, reserve, marginal, blocks, concurrency } = peerFigures(peerPlan(peer, 1, false));
    expect({ payload, reserve, marginal, blocks, concurrency }).toEqual({
      payload: peer.payload,
      reserve: peer.reserve[0],
      marginal: peer.marginal[0],
      blocks: peer.blocks[0],
      concurrency: peer.concurrency[0],
    });
  });
  test('one GPU, two batches in flight', () => {
    const { reserve, concurrency } = peerFigures(peerPlan(peer, 1, true));
    expect({ reserve, concurrency }).toEqual({
      reserve: peer.reserve[1],
      concurrency: (peer.concurrencyTwo ?? peer.concurrency)[0],
    });
  });
  test('eight GPUs', () => {
    const one = peerFigures(peerPlan(peer, 8, false));
    const two = peerFigures(peerPlan(peer, 8, true));
    expect([one.marginal, one.blocks, one.concurrency, two.concurrency]).toEqual([
      peer.marginal[1],
      peer.blocks[1],
      peer.concurrency[1],
      (peer.concurrencyTwo ?? peer.concurrency)[1],
    ]);
  });
});
