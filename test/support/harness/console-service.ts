import { createParkedItems } from '../../../src/adapters/read-model-postgres/parked-items.js';
import { invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import { invoiceStream, type Mode, type StreamName } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { eventually } from '../eventually.js';
import { accepted, attempted, authorized, cancelNotConfirmed, cancelRequested } from '../fixture/invoice.js';
import { contextAt } from './event-store.js';
import { type RunningService, startRunningService } from './running-service.js';

/** A hostile text of a customer; every field that a customer fills contains it. */
export const SCRIPT = `"'><script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;

/** Digits that pass as a CPF, written as people write it. */
export const DOCUMENT = '529.982.247-25';

export const CNPJ = demoCompany().cnpj;

const modeOf = (n: number): Mode => (n === 3 ? 'test' : 'live');

export type ConsoleServiceHarness = {
  running: RunningService;
  /** Origin of the console. */
  origin: string;
  ids: { issued: string; indeterminate: string; refused: string; open: string };
  dpsIds: { first: string; last: string };
  parkedStream: StreamName;
  seen: { company: string; reference: string; accessKey: string };
  close(): Promise<void>;
};

/**
 * A service without workers, so that what is put here stays as it is: an invoice of each kind that support meets. `words` stand
 * wherever somebody else writes.
 */
export const openConsoleServiceHarness = async (
  words = SCRIPT,
  env: NodeJS.ProcessEnv = {},
): Promise<ConsoleServiceHarness> => {
  const referenceOf = (n: number): string => (n === 2 ? words : `pedido-${n}`);
  const idOf = (n: number): string => invoiceIdOfReference(modeOf(n), CNPJ, referenceOf(n));
  const running = await startRunningService(env, ['api', 'projector']);
  const { store, pool, readModel } = running.service.engines;
  const now = systemClock.now();
  const put = async (n: number, secondsAgo: number, ...more: readonly InvoiceEvent[]): Promise<StreamName> => {
    const [mode, invoiceId] = [modeOf(n), idOf(n)];
    const stream = invoiceStream(mode, CNPJ, invoiceId);
    const at: Instant = addSeconds(now, -secondsAgo);
    const first = accepted({
      mode,
      companyId: CNPJ,
      invoiceId,
      acceptedAt: at,
      reference: referenceOf(n),
      description: words,
      // The open one is of another customer.
      customer: { type: 'br', document: n === 4 ? '11144477735' : '52998224725', name: words },
    });
    await store.append(stream, { kind: 'none' }, [first, ...more], contextAt(at, { mode, companyId: CNPJ }));
    return stream;
  };
  const sent = attempted(1, 0, words === SCRIPT ? SCRIPT : 'uDr1Nw0YcXo9');
  const second = attempted(2, 40);
  if (sent.type !== 'IssuanceAttempted' || second.type !== 'IssuanceAttempted') throw new Error('not an attempt');
  const last = `${second.data.dpsId.slice(0, -1)}8`;
  const retry: InvoiceEvent = { ...second, data: { ...second.data, dpsId: last, number: 8 } };
  // A code that no catalogue has is a text of the authorizer, which a picture of the usual page must not show.
  const codes = words === SCRIPT ? ['E0188', words] : ['E0188'];
  const refusal: InvoiceEvent = { type: 'IssuanceRejected', data: { attempt: 1, at: now, codes, texts: [words] } };
  const unknown: InvoiceEvent = {
    type: 'IssuanceOutcomeUnknown',
    data: { attempt: 2, reason: 'timeout', at: now, codes: [], texts: [words] },
  };
  const ended: InvoiceEvent = {
    type: 'IssuanceInterrupted',
    data: { failedAt: addSeconds(now, -90_000), at: addSeconds(now, -90_000) },
  };
  await put(1, 7_200, attempted(1, 0), authorized(1, 2), cancelRequested(5), cancelNotConfirmed(3_700, ['E0822']));
  const indeterminate = await put(2, 93_600, sent, retry, unknown, ended);
  await put(3, 600, attempted(1, 0), refusal);
  await put(4, 5);
  await eventually(
    () => Promise.all([1, 2, 4].map((n) => readModel.invoice(invoiceStream('live', CNPJ, idOf(n))))),
    (rows) => rows.every((row) => row !== undefined),
  );
  await eventually(
    () => readModel.invoice(invoiceStream('test', CNPJ, idOf(3))),
    (row) => row !== undefined,
  );
  const item = { kind: 'issue' as const, stream: indeterminate, messageId: 'm', reason: 'failed 31 times' };
  await createParkedItems(pool).replace([{ ...item, parkedAt: now }]);
  return {
    running,
    origin: running.service.opsUrl,
    parkedStream: indeterminate,
    ids: {
      issued: `nfse_${idOf(1)}`,
      indeterminate: `nfse_${idOf(2)}`,
      refused: `nfse_${idOf(3)}`,
      open: `nfse_${idOf(4)}`,
    },
    dpsIds: { first: sent.data.dpsId, last },
    seen: { company: CNPJ, reference: 'pedido-1', accessKey: '33045572212345678000195000000000014826082012345670' },
    close: () => running.close(),
  };
};

/** Name and path, below the console's, of a page of each kind. */
export const pagesOf = ({ ids }: ConsoleServiceHarness): readonly (readonly [string, string])[] => [
  ['overview', ''],
  ['invoice', `/invoices/${ids.indeterminate}`],
  ['issued', `/invoices/${ids.issued}`],
  ['open', `/invoices/${ids.open}`],
  ['invoices', '/invoices'],
  ['indeterminate', '/indeterminate'],
  ['cancellations', '/cancellations'],
  ['parked', '/parked'],
  ['certificates', '/certificates'],
  ['projections', '/projections'],
];
