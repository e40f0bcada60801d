import { expect, it } from 'vitest';
import type { RequestSummary } from '../../../src/http/deps.js';
import { refusalLines } from '../../../src/runtime/config/fault-lines.js';

const refusalOf = (n: number): RequestSummary => ({
  route: 'unmatched',
  method: 'unread',
  status: 408,
  code: 'invalid_request',
  durationMs: 1.23456,
  requestId: `req_${n}`,
  peer: '192.0.2.7',
});

it('a refused request has a request line; of a flood the first 600 of a minute have one, and the others are counted', () => {
  const lines: object[] = [];
  const time = { ms: 5_000 };
  const take = (line: object): void => void lines.push(line);
  const log = refusalLines({ info: take, warn: take }, () => time.ms);
  for (let n = 0; n < 1_000; n += 1) log(refusalOf(n));
  expect(lines).toHaveLength(600);
  expect(lines[0]).toEqual({
    msg: 'request',
    request_id: 'req_0',
    route: 'unmatched',
    method: 'unread',
    status: 408,
    code: 'invalid_request',
    duration_ms: 1.235,
    peer: '192.0.2.7',
  });
  time.ms += 60_000;
  log(refusalOf(1_000));
  log(refusalOf(1_001));
  expect(lines.slice(600)).toEqual([
    { msg: 'more requests were refused unread than are logged in a minute', unlogged: 400 },
    expect.objectContaining({ request_id: 'req_1000' }),
    expect.objectContaining({ request_id: 'req_1001' }),
  ]);
});
