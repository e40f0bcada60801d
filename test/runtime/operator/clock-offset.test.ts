import { expect, it } from 'vitest';
import { clockCheckOf } from '../../../src/runtime/operator/clock-offset.js';

const checked = (seconds: number) => clockCheckOf('clock live', "the authorizer's", seconds, 900);

it.each([
  [30, undefined],
  [31, "set this machine's clock (NTP)"],
  [899, "set this machine's clock (NTP)"],
  [-3_600, "set this machine's clock (NTP)"],
])('a clock that differs by %i s is set without a stop, if at all', (seconds, cure) => {
  expect(checked(seconds)).toMatchObject({ ok: cure === undefined, cure });
});

it.each([900, 3_600])('a step forward of %i s is made with an empty queue and a stopped service', (seconds) => {
  expect(checked(seconds)).toMatchObject({
    ok: false,
    detail: `the authorizer's is ${seconds} s ahead of ours`,
    cure: expect.stringMatching(
      /nfse api off, .*--status queued is empty, stop .*, set .* \(NTP\), start .*, nfse api on/,
    ),
  });
});
