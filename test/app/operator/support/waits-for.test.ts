import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../../src/app/event-store/event-store.js';
import { type WaitsForDeps, waitsFor } from '../../../../src/app/operator/support/waits-for.js';
import { dpsStream } from '../../../../src/domain/common/ids.js';
import type { Company } from '../../../../src/domain/company/company.js';
import type { InvoiceEvent } from '../../../../src/domain/invoice/events.js';
import type { CertificateRefusal } from '../../../../src/ports/certificate-refusals.js';
import type { StoredLookupProgress } from '../../../../src/ports/work-progress.js';
import { demoCompany } from '../../../support/fixture/demo.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  cancelAttempted,
  cancelRequested,
  cancelUnknown,
  conflictFound,
  limits,
  notSent,
  provenAbsent,
  T0,
  unknown,
} from '../../../support/fixture/invoice.js';
import { appendTo, fixedKeys } from '../../../support/harness/event-store.js';
import { memoryEventLog } from '../../../support/memory/event-log.js';
import { createMemoryGuards } from '../../../support/memory/guards.js';

const STREAM = 'nfseLive-1_1';

const CNPJ = '12345678000195';

type OnFile = Pick<WaitsForDeps, 'readModel' | 'vault'> & Partial<Pick<WaitsForDeps, 'store' | 'refusedCertificates'>>;

/** What is on file for the company, and whether its certificate is in the database. */
const companyWith = (facts: Partial<Company>, holds = true): OnFile => ({
  readModel: { company: async () => ({ ...demoCompany(CNPJ), ...facts }) },
  vault: { holds: async () => holds },
});

const shown = async (
  events: readonly InvoiceEvent[],
  now: number,
  stored: Readonly<Record<string, StoredLookupProgress>> = {},
  onFile: OnFile = companyWith({}),
) => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  await appendTo(store, STREAM, events, T0);
  const { lookups } = createMemoryGuards();
  for (const [work, progress] of Object.entries(stored)) await lookups.put(STREAM, work, progress);
  const clock = { now: () => at(now) };
  const refusedCertificates = async () => [];
  const deps = { store, refusedCertificates, ...onFile, lookups, clock, limits };
  return await waitsFor(STREAM, await log.read(STREAM), deps);
};

const lost = [accepted(), attempted(1, 0), unknown(1, 1)];
const nothingSent = [accepted(), attempted(1, 0), notSent(1, 10)];
const canceling = [accepted(), attempted(1, 0), authorized(1, 1), cancelRequested(100)];

describe('what an open invoice waits for', () => {
  it.each<[what: string, events: readonly InvoiceEvent[], now: number, step: string, from: number]>([
    ['its first send', [accepted()], 5, 'send', 5],
    ['the deadline of the send under way', [accepted(), attempted(1, 0)], 5, 'look_up', 35],
    ['the first look-up after a lost answer', lost, 5, 'look_up', 31],
    ['a look-up that is due', lost, 50, 'look_up', 50],
    ['the pause after a send that was not sent', nothingSent, 10, 'resend', 11],
    [
      'the end of its time, after a note of another party',
      [...lost, conflictFound(1, 40, false)],
      3_601,
      'conclude',
      3_601,
    ],
    ['the end of its time in the queue', [accepted()], 900, 'conclude', 900],
    [
      'the end of its time, counted from the first attempt when all came to nothing',
      [...nothingSent, attempted(2, 20), notSent(2, 3_500)],
      3_600,
      'conclude',
      3_600,
    ],
  ])('is %s', async (_what, events, now, step, from) => {
    expect((await shown(events, now))?.next).toEqual({ step, from: at(from) });
  });

  it('is the next look-up, counted from the last one, beside what the look-ups have seen', async () => {
    const progress = { asked: 2, lastAskedAt: at(91), firstAbsentAt: at(91) };
    expect(await shown(lost, 95, { 'issue/1': progress })).toEqual({
      lookups: [{ work: 'issue/1', ...progress }],
      next: { step: 'look_up', from: at(211) },
      held: [],
    });
  });

  it.each<[what: string, events: readonly InvoiceEvent[], work: string, endsAt: number]>([
    ['an invoice', lost, 'issue/1', 3_601],
    ['a cancellation', [...canceling, cancelAttempted(1, 100), cancelUnknown(1, 101)], 'cancel/1/1', 3_701],
  ])(
    'is for %s the end of its time where the pause before the next look-up passes it',
    async (_what, events, work, endsAt) => {
      const progress = { asked: 8, lastAskedAt: at(3_200) };
      expect((await shown(events, 3_300, { [work]: progress }))?.next).toEqual({ step: 'conclude', from: at(endsAt) });
    },
  );

  it('is a send again after a proven absence, and the look-ups of the earlier send stay', async () => {
    const progress = { asked: 1, lastAskedAt: at(31) };
    expect(await shown([...lost, provenAbsent(1, 100)], 101, { 'issue/1': progress })).toEqual({
      lookups: [{ work: 'issue/1', ...progress }],
      next: { step: 'resend', from: at(101) },
      held: [],
    });
  });

  it('is of a cancellation its own look-ups, not those of the invoice', async () => {
    const progress = { asked: 1, lastAskedAt: at(131) };
    const events = [...canceling, cancelAttempted(1, 100), cancelUnknown(1, 101)];
    expect(await shown(events, 132, { 'issue/1': progress, 'cancel/1/1': progress })).toEqual({
      lookups: [{ work: 'cancel/1/1', ...progress }],
      next: { step: 'look_up', from: at(191) },
      held: [],
    });
    expect((await shown(canceling, 101))?.next).toEqual({ step: 'send', from: at(101) });
  });

  describe('a send', () => {
    const NO_CERTIFICATE = { kind: 'certificate_missing', companyId: CNPJ };
    const { certificate, ...withoutCertificate } = demoCompany(CNPJ);
    if (certificate === undefined) throw new Error('the company of the demo has a certificate');
    const heldOf = async (events: readonly InvoiceEvent[], now: number, onFile?: OnFile) =>
      (await shown(events, now, {}, onFile))?.held;

    it('is held back by nothing of a company that is whole', async () => {
      expect(await heldOf([accepted()], 5)).toEqual([]);
      expect(await heldOf(nothingSent, 10)).toEqual([]);
    });

    it.each<[what: string, onFile: OnFile]>([
      ['there is none', { ...companyWith({}), readModel: { company: async () => withoutCertificate } }],
      ['its key cannot be used', companyWith({ certificate: { ...certificate, unusable: 'key_size' } })],
      ['it is over', companyWith({ certificate: { ...certificate, notAfter: at(0) } })],
      ['it is not in the database', companyWith({}, false)],
    ])(
      'is held back by the certificate where %s: of an invoice, again, and of a cancellation',
      async (_what, onFile) => {
        expect(await heldOf([accepted()], 5, onFile)).toEqual([NO_CERTIFICATE]);
        expect(await heldOf(nothingSent, 10, onFile)).toEqual([NO_CERTIFICATE]);
        expect(await heldOf(canceling, 101, onFile)).toEqual([NO_CERTIFICATE]);
        expect(await heldOf(lost, 32, onFile)).toEqual([NO_CERTIFICATE]);
        expect(await heldOf(lost, 9_000, onFile)).toEqual([]);
      },
    );

    it('is held back by the certificate that the authorizer refuses, in its mode, and a look-up is not', async () => {
      const { certificateId } = certificate;
      const refusal = { mode: 'live', companyId: CNPJ, certificateId, reason: 'refused', since: T0 } as const;
      const heldWith = async (facts: Partial<CertificateRefusal>, events: readonly InvoiceEvent[], now: number) => {
        const one = { ...refusal, seen: 1, lastAt: T0, probeAt: T0, ...facts };
        return await heldOf(events, now, { ...companyWith({}), refusedCertificates: async () => [one] });
      };
      const isHeld = [{ kind: 'certificate_refused', refusal: expect.objectContaining(refusal) }];
      expect(await heldWith({}, [accepted()], 5)).toEqual(isHeld);
      expect(await heldWith({}, nothingSent, 10)).toEqual(isHeld);
      expect(await heldWith({}, canceling, 101)).toEqual(isHeld);
      expect(await heldWith({}, lost, 32)).toEqual([]);
      expect(await heldWith({ mode: 'test' }, [accepted()], 5)).toEqual([]);
      expect(await heldWith({ companyId: '98765432000198' }, [accepted()], 5)).toEqual([]);
      expect(await heldWith({ certificateId: 'an earlier one' }, [accepted()], 5)).toEqual([]);
    });

    it('is held back by a stopped series where it takes a number, and only in its mode', async () => {
      const blocked = { type: 'DpsSeriesBlocked', data: { nextNumber: 8, number: 7, invoiceId: '1', at: T0 } } as const;
      const { series } = demoCompany(CNPJ).registration.dps.live;
      const heldWith = async (mode: 'live' | 'test', events: readonly InvoiceEvent[], now: number) => {
        const stopped = createEventStore(memoryEventLog(), fixedKeys());
        await appendTo(stopped, dpsStream(mode, CNPJ, series), [blocked], T0);
        return (await shown(events, now, {}, { ...companyWith({}), store: stopped }))?.held;
      };
      expect(await heldWith('live', [accepted()], 5)).toMatchObject([
        { kind: 'series_stopped', stopped: { series, mode: 'live', isUsedUp: false } },
      ]);
      expect(await heldWith('test', [accepted()], 5)).toEqual([]);
      expect(await heldWith('live', nothingSent, 10)).toEqual([]);
      expect(await heldWith('live', canceling, 101)).toEqual([]);
      expect(await heldWith('live', lost, 5)).toEqual([]);
    });
  });

  it('is nothing once it is settled, although look-ups were made', async () => {
    const progress = { asked: 1, lastAskedAt: at(31) };
    expect(await shown([...lost, authorized(1, 32)], 40, { 'issue/1': progress })).toBeUndefined();
    expect(await shown([], 40)).toBeUndefined();
  });
});
