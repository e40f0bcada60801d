import { describe, expect, it } from 'vitest';
import type { Exchange } from './judge/raw.js';
import { createLive } from './live.js';

const answered = (
  second: number,
  method: string,
  path: string,
  answer: object,
  rest: Partial<Exchange> = {},
): Exchange => ({
  tenant: 'a-test',
  intent: 'w1',
  method,
  path,
  status: 200,
  began: `2026-11-23T12:00:0${second}.000Z`,
  ended: `2026-11-23T12:00:0${second}.500Z`,
  answer: answer as Exchange['answer'] & object,
  ...rest,
});

describe('the live line', () => {
  it('counts what happens', () => {
    const live = createLive(Date.now());
    live.heard(
      answered(1, 'POST', '/v1/nfse', { id: 'nfse_1', status: 'queued' }, { status: 202, idempotencyKey: 'k' }),
    );
    live.heard(answered(2, 'GET', '/v1/nfse/nfse_1', { id: 'nfse_1', status: 'issued' }));
    live.mishap('kill');
    live.mishap('freeze');
    live.fault();
    expect(live.line()).toMatch(/2 requests, 1 accepted, 1 issued, 1 kills, 1 other mishaps, 1 faults, 0 found$/);
  });

  it('finds an answer that goes backwards, and a key that gives another invoice', () => {
    const live = createLive(Date.now());
    live.heard(answered(1, 'GET', '/v1/nfse/nfse_1', { id: 'nfse_1', status: 'issued' }));
    live.heard(answered(2, 'GET', '/v1/nfse/nfse_1', { id: 'nfse_1', status: 'queued' }));
    for (const id of ['nfse_2', 'nfse_3'])
      live.heard(answered(3, 'POST', '/v1/nfse', { id, status: 'queued' }, { status: 202, idempotencyKey: 'k' }));
    expect(live.counts.found).toBe(2);
  });
});
