import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import { accepted, T0 } from '../../support/fixture/invoice.js';
import { appendTo, fixedKeys } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { verifyChain } from '../../support/verify-chain.js';

/** An accepted invoice that was ended and cut; `lastHash` defaults to the true one. */
const ended = async (mode: Mode, lastHash?: string) => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  const stream = invoiceStream(mode, '12345678000195', '11111111-1111-4111-8111-111111111111');
  await appendTo(store, stream, [accepted({ mode })], T0);
  const hash = (await log.read(stream))[0]?.metadata.hash ?? '';
  const data = { lastHash: lastHash ?? hash, deletedAt: T0 };
  await appendTo(store, stream, [{ type: 'TestInvoiceDeleted', data }], T0);
  await log.cut(stream, 1);
  return await verifyChain(log, ['nfse']);
};

describe('verifyChain over a pruned stream', () => {
  it('accepts a test invoice that was ended and cut', async () => {
    expect(await ended('test')).toEqual({ streams: 1, events: 1, findings: [] });
  });

  it('finds an end that names another last hash than the one it follows', async () => {
    expect((await ended('test', 'f'.repeat(64))).findings).toMatchObject([{ kind: 'broken_link', revision: 1 }]);
  });

  it('accepts no such end on a live stream', async () => {
    expect((await ended('live')).findings).toMatchObject([{ kind: 'missing_revision', revision: 1 }]);
  });
});
