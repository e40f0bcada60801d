import { beforeEach, describe, expect, it } from 'vitest';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { invoiceIdOfAccessKey, invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import type { InvoiceEventData } from '../../../src/domain/invoice/events.js';
import { COMPANY } from '../../support/fixture/histories.js';
import * as life from '../../support/fixture/invoice.js';
import { type AuditHarness, emptyAuditHarness, registerCompany } from '../../support/harness/audit.js';
import { appendTo } from '../../support/harness/event-store.js';

const OTHER_COMPANY = '98765432000198';
const idOf = (n: number): string => `11111111-1111-4111-8111-${String(n).padStart(12, '0')}`;
const byReference = (reference: string, mode: Mode = 'live'): string => invoiceIdOfReference(mode, COMPANY, reference);

let harness: AuditHarness;
beforeEach(async () => {
  harness = emptyAuditHarness();
  for (const companyId of [COMPANY, OTHER_COMPANY]) await registerCompany(harness, companyId);
});

type Acceptance = Partial<InvoiceEventData<'InvoiceAccepted'>> & { invoiceId: string };

const accept = async (own: Acceptance): Promise<string> => {
  const event = life.accepted({ companyId: COMPANY, ...own });
  if (own.reference === undefined && event.type === 'InvoiceAccepted') delete event.data.reference;
  const stream = invoiceStream(own.mode ?? 'live', own.companyId ?? COMPANY, own.invoiceId);
  await appendTo(harness.store, stream, [event], own.acceptedAt ?? life.T0);
  return stream;
};

const found = async (): Promise<readonly string[]> =>
  (await verifyLog(harness.log)).findings.kept.map(({ kind, stream, detail }) => `${kind} ${stream} ${detail}`);

describe('the reference of an accepted invoice', () => {
  it('gives the id of the invoice, in each company and mode', async () => {
    await accept({ invoiceId: byReference('a'), reference: 'a' });
    await accept({ invoiceId: byReference('b'), reference: 'b' });
    await accept({ mode: 'test', invoiceId: byReference('a', 'test'), reference: 'a' });
    const ofOther = invoiceIdOfReference('live', OTHER_COMPANY, 'a');
    await accept({ companyId: OTHER_COMPANY, invoiceId: ofOther, reference: 'a' });
    await accept({ invoiceId: idOf(1) });
    expect(await found()).toEqual([]);
  });

  it.each([
    ['one of them has its id', byReference('a')],
    ['none of them has its id', idOf(2)],
  ])('is found where two invoices have it and %s', async (_which, first) => {
    await accept({ invoiceId: first, reference: 'a' });
    const second = await accept({ invoiceId: idOf(1), reference: 'a' });
    expect(await found()).toContain(`invariant ${second} its id is not the one that its reference gives`);
  });
});

describe('the reference of an imported live invoice', () => {
  const importAs = async (n: number, taking: readonly string[], own: object): Promise<string> => {
    for (const id of taking) {
      const taken = { type: 'ReferenceTaken', data: { invoiceId: idOf(n), takenAt: life.T0 } } as const;
      await appendTo(harness.store, invoiceStream('live', COMPANY, id), [taken], life.T0);
    }
    const stream = invoiceStream('live', COMPANY, idOf(n));
    const data = { companyId: COMPANY, invoiceId: idOf(n), accessKey: String(n).padStart(50, '4'), ...own };
    await appendTo(harness.store, stream, [life.imported(data)], life.T0);
    return stream;
  };

  it('was taken for it before, where it has another id', async () => {
    const accessKey = '4'.repeat(50);
    const ofKey = invoiceIdOfAccessKey('live', COMPANY, accessKey);
    await importAs(1, [byReference('a'), ofKey], { reference: 'a', accessKey });
    expect(await found()).toEqual([]);
  });

  it('is found where it is that of an accepted invoice, or of another import', async () => {
    await accept({ invoiceId: byReference('a'), reference: 'a' });
    await importAs(1, [byReference('b')], { reference: 'b' });
    const streams = [await importAs(2, [], { reference: 'a' }), await importAs(3, [], { reference: 'b' })];
    const detail = 'an import whose reference was not taken for it';
    expect(await found()).toEqual(streams.map((stream) => `invariant ${stream} ${detail}`));
  });
});

describe('an Idempotency-Key', () => {
  const idempotency = { keyHash: 'a'.repeat(64), bodyHash: `hmac:1:m1.${'0'.repeat(16)}:${'A'.repeat(43)}` };
  const DAY = 86_400;

  it('may be used again when its 24 hours are over, and by another company or mode at once', async () => {
    await accept({ invoiceId: idOf(1), idempotency });
    await accept({ mode: 'test', invoiceId: idOf(1), idempotency });
    await accept({ companyId: OTHER_COMPANY, invoiceId: idOf(1), idempotency });
    await accept({ invoiceId: idOf(2), idempotency, acceptedAt: life.at(DAY) });
    await accept({ invoiceId: idOf(3), idempotency, acceptedAt: life.at(2 * DAY - 1) });
    await accept({ invoiceId: idOf(4), idempotency, acceptedAt: life.at(5 * DAY) });
    expect(await found()).toEqual([]);
  });

  it('may be used again sooner in a rehearsal with a shorter time', async () => {
    await accept({ invoiceId: idOf(1), idempotency });
    await accept({ invoiceId: idOf(2), idempotency, acceptedAt: life.at(120) });
    expect((await verifyLog(harness.log, { keySeconds: 120 })).findings.kept).toEqual([]);
    expect(await found()).toHaveLength(1);
  });

  it.each([
    [1, 0],
    [DAY - 61, 0],
    [1.9 * DAY, DAY],
  ])(
    'is found when a second invoice has it after %d seconds, where the first has it after %d',
    async (later, first) => {
      await accept({ invoiceId: idOf(1) });
      const before = await accept({ invoiceId: idOf(2), idempotency, acceptedAt: life.at(first) });
      const stream = await accept({
        invoiceId: byReference('a'),
        reference: 'a',
        idempotency,
        acceptedAt: life.at(later),
      });
      const detail = `an Idempotency-Key that ${before} had, and whose time was not over (a rehearsal may have had a shorter IDEMPOTENCY_TTL_S)`;
      expect(await found()).toEqual([`duplicate ${stream} ${detail}`]);
    },
  );
});
