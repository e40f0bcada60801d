import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { brasiliaDate, type Instant } from '../../src/domain/common/time.js';
import { buildDps } from '../../src/domain/dps/build-dps.js';
import { gzipBase64 } from '../../src/xml/packing.js';
import { acceptedFacts } from '../support/fixture/dps-facts.js';
import {
  COMPANY,
  codesOf,
  openSimulatorHarness,
  RIO,
  type SimulatorHarness,
  signDps,
} from '../support/harness/simulator.js';

let harness: SimulatorHarness;
let number = 0;

beforeAll(async () => {
  harness = await openSimulatorHarness();
});
afterAll(() => harness.close());

/** Codes of the answer to a DPS accepted and sent at this instant, by an authorizer whose clock is off by so many seconds. */
const sentAt = async (acceptedAt: Instant, offset: number): Promise<readonly string[]> => {
  number += 1;
  harness.clock.at = acceptedAt;
  await harness.control('POST', 'clock', { offset_s: offset });
  const accepted = acceptedFacts({
    companyId: COMPANY,
    acceptedAt,
    competence: brasiliaDate(acceptedAt),
    line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' },
    issuer: { municipality: RIO, taxRegime: 'simples', simplesAssessment: 'all', specialRegime: 0 },
  });
  const { xml } = buildDps({ mode: 'test', series: '1', number, accepted, currencyCode: () => undefined });
  const answer = await harness.call('POST', '/nfse', {
    body: { dpsXmlGZipB64: gzipBase64(signDps(xml, harness.identity)) },
  });
  return answer.status === 201 ? [] : codesOf(answer);
};

describe('emission and competence at the authorizer’s clock', () => {
  it.each<[string, Instant, number]>([
    ['on time', '2026-09-15T15:00:00.000Z', 0],
    ['a minute slow', '2026-09-15T15:00:00.000Z', -60],
    ['an hour fast', '2026-09-15T15:00:00.000Z', 3600],
    ['on time, in the first second of a day', '2026-09-15T03:00:00.000Z', 0],
    ['on time, in the last millisecond of a month', '2026-10-01T02:59:59.999Z', 0],
    ['on time, in the first second of a month', '2026-10-01T03:00:00.000Z', 0],
    ['a minute slow, in the last second of a month', '2026-10-01T02:59:59.000Z', -60],
    ['fast enough to be in the next month already', '2026-10-01T02:59:59.000Z', 60],
    ['on time, in the first second of a year', '2027-01-01T03:00:00.000Z', 0],
    ['a minute slow, from the second minute of a year on', '2027-01-01T03:01:00.000Z', -60],
  ])('are accepted when it is %s', async (_case, acceptedAt, offset) => {
    expect(await sentAt(acceptedAt, offset)).toEqual([]);
  });

  it('are refused when it is slower than the minute that the stamp allows for (E0008)', async () => {
    expect(await sentAt('2026-09-15T15:00:00.000Z', -61)).toEqual(['E0008']);
  });

  it('leave no slack in the first second of a day: an earlier stamp would be before the competence', async () => {
    expect(await sentAt('2026-09-15T03:00:00.000Z', -1)).toEqual(['E0008']);
    expect(await sentAt('2026-09-15T03:00:30.000Z', -30)).toEqual([]);
  });
});
