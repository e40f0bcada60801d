import { invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { settleInvoice } from '../../src/app/operator/settlement/settle-invoice.js';
import { adoptNote } from '../../src/app/recovery/adopt-note.js';
import { moveNumbersPast } from '../../src/app/recovery/recover-log.js';
import {
  companyStream,
  dpsStream,
  type InvoiceId,
  invoiceStream,
  type StreamName,
} from '../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import type { AuthorizedNote, Authorizer } from '../../src/ports/authorizer.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import type { Engines } from '../../src/runtime/engines/engines.js';
import { registration } from '../support/fixture/company.js';
import { accepted, attempted, DPS_ID, interrupted, limits } from '../support/fixture/invoice.js';
import { contextAt } from '../support/harness/event-store.js';

const SERIES = '900';

/** Registered without a certificate, so the living service sends none of its invoices. */
const companyId = '98765432000198';
const dpsId = DPS_ID.replace('12345678000195', companyId);

/** The result of a look-up without an authorizer; these notes are in no ledger. */
const note = (accessKey: string): AuthorizedNote => ({
  accessKey,
  nfseNumber: '1',
  authorizedAt: systemClock.now(),
  xml: Buffer.from('<NFSe/>'),
  dpsId,
  digest: 'digest',
  content: { amount: '1.00', description: '', customerDocument: '' },
});

const INDETERMINATE = 'pedido-1';
const OPEN = 'pedido-2';
const idOf = (reference: string): InvoiceId => invoiceIdOfReference('test', companyId, reference);

/** The writes of support: a settlement, numbers moved past a note, a note given back to its invoice. A repetition writes nothing. */
export const supportUnfinished = async (engines: Engines): Promise<void> => {
  const { store } = engines;
  const deps = { store, clock: systemClock, actor: 'support:crash-test' as const };
  await register(engines);
  await allocateOfAttempt(engines);
  const settled = await begin(engines, INDETERMINATE, ofCompany(attempted(1, 0)), interrupted);
  const authorizer = {
    findByDps: async () => ({ kind: 'found', found: note('7'.repeat(50)) }),
  } as unknown as Authorizer;
  const command = { stream: settled, as: 'issued' as const, evidence: 'Consulta ao portal' };
  const rest = {
    authorizer,
    limits,
    lookups: engines.guards.lookups,
    notify: async () => undefined,
    holdersOf: async () => [],
  };
  const result = await settleInvoice(command, { ...deps, ...rest });
  if (result.kind === 'refused') throw new Error(result.reason);
  await moveNumbersPast(
    { mode: 'test', companyId, series: SERIES, nextNumber: 1 },
    { found: [5], isInDoubt: false },
    deps,
  );
  const open = await begin(engines, OPEN);
  if (!(await adoptNote(open, { note: note('8'.repeat(50)) }, deps))) throw new Error('the note was not taken');
};

/** Events that the dead process has written stay unchanged. */
const begin = async ({ store }: Engines, reference: string, ...more: readonly InvoiceEvent[]): Promise<StreamName> => {
  const invoiceId = idOf(reference);
  const stream = invoiceStream('test', companyId, invoiceId);
  const { version } = await store.load(stream);
  if (version.kind !== 'none') return stream;
  const event = accepted({ mode: 'test', companyId, invoiceId, reference, acceptedAt: systemClock.now() });
  await store.append(stream, version, [event, ...more], contextAt(systemClock.now(), { mode: 'test', companyId }));
  return stream;
};

const ofCompany = ({ type, data }: ReturnType<typeof attempted>): InvoiceEvent => ({ type, data: { ...data, dpsId } });

const register = async ({ store }: Engines): Promise<void> => {
  const stream = companyStream(companyId);
  const { version } = await store.load(stream);
  if (version.kind !== 'none') return;
  const at = systemClock.now();
  const data = { registration: { ...registration, cnpj: companyId }, at };
  await store.append(stream, version, [{ type: 'CompanyRegistered', data }], contextAt(at, { companyId }));
};

/** The number of the attempt in the fixtures, so that the log is one that could have come about. */
const allocateOfAttempt = async ({ store }: Engines): Promise<void> => {
  const stream = dpsStream('test', companyId, '1');
  const { version } = await store.load(stream);
  if (version.kind !== 'none') return;
  const now = systemClock.now();
  const data = { number: 7, nextNumber: 8, invoiceId: idOf(INDETERMINATE), at: now };
  await store.append(
    stream,
    version,
    [{ type: 'DpsNumberAllocated', data }],
    contextAt(now, { mode: 'test', companyId }),
  );
};
