import { beforeEach, describe, expect, it } from 'vitest';
import type { CertificateExpiry } from '../../../src/adapters/read-model-postgres/monitoring-reads.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { createCertificateWarnings } from '../../../src/runtime/roles/sweeper.js';
import { movableClock } from '../../support/harness/event-store.js';

const START = '2026-11-01T12:00:00.000Z';
const DAY = 86_400;
const company = '12345678000195';

describe('the log of certificates that end', () => {
  let expiries: readonly CertificateExpiry[];
  let asked: number;
  let lines: {
    level: string;
    msg?: string;
    company?: string;
    within_days?: number;
    days_left?: number;
    count?: number;
  }[];
  let clock: ReturnType<typeof movableClock>;
  let look: () => Promise<void>;
  beforeEach(() => {
    clock = movableClock(START);
    expiries = [{ companyId: company, notAfter: addSeconds(START, 40 * DAY) }];
    asked = 0;
    lines = [];
    const put = (level: string) => (line: (typeof lines)[number]) => void lines.push({ ...line, level });
    look = createCertificateWarnings({
      watch: {
        certificatesEndingBefore: async (until) => {
          asked += 1;
          return expiries
            .filter(({ notAfter }) => notAfter < until)
            .toSorted((a, b) => (a.notAfter < b.notAfter ? 1 : -1));
        },
      },
      clock,
      logger: { warn: put('warn'), error: put('error') },
    });
  });

  const everyHourFor = async (days: number): Promise<void> => {
    for (let hour = 0; hour < days * 24; hour += 1) {
      await look();
      clock.pass(3_600);
    }
  };

  it('has one line at 30, 15, 7 and 1 days and one at the end', async () => {
    await everyHourFor(45);
    expect(lines.map(({ level, within_days, days_left }) => [level, within_days, days_left])).toEqual([
      ['warn', 30, 29],
      ['warn', 15, 14],
      ['warn', 7, 6],
      ['warn', 1, 0],
      ['error', undefined, 0],
    ]);
    expect(lines[0]).toMatchObject({ company, not_after: '2026-12-11T12:00:00.000Z' });
  });

  it('says where a certificate stands when the process begins late, and no step twice', async () => {
    clock.pass(34 * DAY);
    await everyHourFor(1);
    expect(lines.map(({ within_days }) => within_days)).toEqual([7]);
  });

  it('is quiet once the certificate is renewed, and starts again with the next one', async () => {
    clock.pass(26 * DAY);
    await everyHourFor(1);
    expiries = [{ companyId: company, notAfter: addSeconds(clock.now(), 365 * DAY) }];
    await everyHourFor(1);
    expiries = [{ companyId: company, notAfter: addSeconds(clock.now(), 10 * DAY) }];
    await everyHourFor(1);
    expect(lines.map(({ within_days }) => within_days)).toEqual([15, 15]);
  });

  it('asks once a minute', async () => {
    for (let times = 0; times < 3; times += 1) {
      await look();
      clock.pass(20);
    }
    expect(asked).toBe(1);
    await look();
    expect(asked).toBe(2);
  });

  it('names each that ends soon and the 100 that expired last, however many have expired; the others are counted in one line', async () => {
    const EXPIRED = 1_200;
    expiries = Array.from({ length: EXPIRED + 29 }, (_, n) => ({
      companyId: `company ${n}`,
      notAfter: addSeconds(START, (n + 0.5 - EXPIRED) * DAY),
    }));
    await everyHourFor(0.25);
    expect(lines.filter(({ within_days }) => within_days !== undefined)).toHaveLength(29);
    const named = lines.filter(({ msg }) => msg === 'a certificate has expired: the company cannot issue');
    expect(named).toHaveLength(100);
    expect(named[0]).toMatchObject({ company: `company ${EXPIRED - 1}` });
    expect(lines.filter(({ count }) => count !== undefined)).toEqual([
      {
        level: 'error',
        msg: 'more certificates have expired: their companies cannot issue',
        count: EXPIRED - 100,
      },
    ]);
  });
});
