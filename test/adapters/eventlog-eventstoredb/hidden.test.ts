import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventStoreEventLog } from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { createEventStore, NO_STREAM, StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import { invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import { invoiceStream, type Mode, type StreamName } from '../../../src/domain/common/ids.js';
import type { EventStoreDouble } from '../../support/eventstore-double/double.js';
import * as life from '../../support/fixture/invoice.js';
import { registerCompany } from '../../support/harness/audit.js';
import { appendTo, contextAt, fixedKeys } from '../../support/harness/event-store.js';
import { fillWith, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

const COMPANY = '12345678000195';

describe('an audit of the log in EventStoreDB', () => {
  const harness = openEventStoreHarness();
  let double: EventStoreDouble;
  let log: EventStoreEventLog;
  let count = 0;
  beforeEach(async () => {
    double = await harness.double();
    log = harness.open(double.url);
    const clock = { now: () => life.T0 };
    await registerCompany({ store: createEventStore(log, fixedKeys()), clock }, COMPANY);
  });
  afterEach(() => harness.close());

  const issued = async (mode: Mode): Promise<StreamName> => {
    count += 1;
    const reference = `pedido-${count}`;
    const invoiceId = invoiceIdOfReference(mode, COMPANY, reference);
    const stream = invoiceStream(mode, COMPANY, invoiceId);
    const accepted = life.accepted({ mode, companyId: COMPANY, invoiceId, reference });
    const notProcessed = { type: 'NotProcessed', data: { failedAt: life.at(900), at: life.at(901) } } as const;
    await appendTo(createEventStore(log, fixedKeys()), stream, [accepted, notProcessed], life.T0);
    return stream;
  };
  const metadata = (stream: StreamName, entries: object): void => {
    const data = Buffer.from(JSON.stringify(entries));
    const event = { id: crypto.randomUUID(), type: '$metadata', contentType: 'application/json' };
    double.log.append(`$$${stream}`, 'any', [{ ...event, data, metadata: Buffer.from('') }]);
  };
  const found = async (): Promise<readonly string[]> =>
    (await verifyLog(harness.open(double.url))).findings.kept.map(({ kind, stream }) => `${kind} ${stream}`);

  it('finds a stream whose events a person hid, by each way that the server has, also after a scavenge', async () => {
    const [truncated, whole, softDeleted, deleted] = [
      await issued('live'),
      await issued('live'),
      await issued('live'),
      await issued('test'),
    ];
    fillWith(double, 1_200, '$stats');
    expect(await found()).toEqual([]);
    metadata(truncated, { $tb: 1 });
    metadata(whole, { note: 'a person wrote this', $tb: 0 });
    double.log.remove(softDeleted, false);
    double.log.remove(deleted, true);
    const expected = [truncated, softDeleted, deleted].map((stream) => `missing_revision ${stream}`);
    expect(await found()).toEqual(expected);
    double.log.scavenge();
    expect(await found()).toEqual(expect.arrayContaining(expected));
  });

  it('tells metadata that hide every event, and can be taken back, from a stream that was deleted for good', async () => {
    const [hidden, deleted] = [await issued('live'), await issued('live')];
    // The double knows no ages: it hides by the number.
    metadata(hidden, { $maxAge: 1, $tb: 10 });
    metadata(deleted, { $maxAge: 1 });
    double.log.remove(deleted, true);
    const { findings } = await verifyLog(harness.open(double.url));
    expect(findings.kept).toMatchObject([
      { stream: deleted, detail: 'a read of the stream finds nothing: the stream was deleted for good' },
      { stream: hidden, detail: 'a read of the stream finds nothing: its metadata hide every event' },
    ]);
  });

  it('finds a stream that was begun again after a person had deleted it', async () => {
    const stream = await issued('live');
    double.log.remove(stream, false);
    const accepted = life.accepted({ mode: 'live', companyId: COMPANY, reference: 'pedido-1' });
    const again = createEventStore(log, fixedKeys()).append(stream, NO_STREAM, [accepted], contextAt(life.at(1_000)));
    await expect(again).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await found()).toContain(`missing_revision ${stream}`);
  });

  it('accepts the cut of retention before the end of a test invoice, and finds that end hidden', async () => {
    const stream = await issued('test');
    const last = await log.lastEvent(stream);
    const ended = {
      type: 'TestInvoiceDeleted',
      data: { lastHash: last?.hash ?? '', deletedAt: life.at(9_000) },
    } as const;
    await appendTo(createEventStore(log, fixedKeys()), stream, [ended], life.at(9_000));
    await log.cut(stream, 2);
    expect(await found()).toEqual([]);
    double.log.scavenge();
    expect(await found()).toEqual([]);
    metadata(stream, { $tb: 3 });
    expect(await found()).toContain(`missing_revision ${stream}`);
  });
});
