import { type InvoiceId, invoiceStream, publicInvoiceId } from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import { addSeconds, isBefore } from '../../../domain/common/time.js';
import { allCameToNothing, type Invoice } from '../../../domain/invoice/state.js';
import type { Clock } from '../../../ports/clock.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { ImportedKey, ImportedKeys } from '../../../ports/idempotency-keys.js';
import type { EventStore } from '../../event-store/event-store.js';
import { compareNote } from '../../issuing/found-documents.js';
import { type LoadedInvoice, loadInvoice } from '../../read/read-invoice.js';
import { adviceOnHolder, noteOfAccepted } from './accepted-invoice.js';
import type { PlannedImport } from './import-line.js';
import { byId } from './notes-met.js';
import { ownerOfDps } from './notes-on-record.js';
import { checkOnRecord, otherContent } from './on-record.js';
import { type Check, checkReservations } from './reservations.js';

export type CheckDeps = {
  log: Pick<EventLog, 'read'>;
  store: EventStore;
  clock: Clock;
  keys: ImportedKeys;
  keySeconds: number;
  testRetentionSeconds: number;
};

/** `isOtherContent`: the invoice of the line is on record otherwise. */
export type Refusal = Extract<Check, { kind: 'refused' }> & { isOtherContent?: true };

/** `completes`: the invoice is on record, and a reservation of it is not. */
export type ImportCheck = { kind: 'open'; completes?: true } | Refusal | { kind: 'already_so'; isAttached?: true };

/** Whether the line adds only a reservation to an invoice on record. */
export const isCompletion = (check: ImportCheck): boolean => check.kind === 'open' && check.completes === true;

/** What the log holds of one line, and whether the line may be imported. */
export const checkImport = async (plan: PlannedImport, deps: CheckDeps): Promise<ImportCheck> => {
  const { data, dps } = plan;
  const owner = dps === undefined ? undefined : await ownerOfDps(dps, data, deps);
  if (owner !== undefined && owner.facts.invoiceId !== data.invoiceId) {
    const id = publicInvoiceId(owner.facts.invoiceId);
    const isOwn = dps !== undefined && compareNote(owner, dps) === 'ours';
    return { kind: 'refused', problem: `xml_file is the note of ${id}${isOwn ? cureOfOwner(owner, id) : ''}` };
  }
  const reserved = await checkReservations(plan, deps.store);
  const refused = reserved.find(({ kind }) => kind === 'refused');
  if (refused !== undefined) return refused;
  const invoice = await checkInvoice(plan, deps);
  if (invoice.kind === 'open') return (await checkKey(plan, deps)) ?? invoice;
  if (invoice.kind === 'refused') return invoice;
  // An access key was not reserved by earlier versions, so an import without that reservation is whole.
  const isWhole = invoice.isAttached
    ? reserved.every(({ kind }) => kind === 'already_so')
    : plan.reservation === undefined || reserved[0]?.kind === 'already_so';
  return isWhole ? invoice : { kind: 'open', completes: true };
};

/** An invoice none of whose attempts was sent gets the note itself by its next send, or by the line that names it. */
const cureOfOwner = ({ outcome, attempts }: Invoice, id: string): string => {
  if (outcome.status === 'indeterminate') return `: nfse invoice resolve ${id} --as issued --evidence portal`;
  const waits = outcome.status === 'open' && allCameToNothing(attempts);
  return waits ? `, which waits to be sent: give it with ${byId(id)}` : '';
};

/** The key of the line while it protects its request from a second note (docs/contract.md IDEM-1), also where that request has a reference. */
export const keyInUse = (
  { data: { mode, companyId, invoiceId, keyHash, createdAt, issuedAt } }: PlannedImport,
  { clock, keySeconds }: CheckDeps,
): ImportedKey | undefined => {
  const acceptedAt = createdAt ?? issuedAt ?? clock.now();
  const isOver = !isBefore(clock.now(), addSeconds(acceptedAt, keySeconds));
  return keyHash === undefined || isOver ? undefined : { mode, companyId, keyHash, invoiceId, acceptedAt };
};

const checkKey = async (plan: PlannedImport, deps: CheckDeps): Promise<ImportCheck | undefined> => {
  const key = keyInUse(plan, deps);
  return key && (await checkHolder(await deps.keys.holderOf(key, deps.clock.now()), plan, deps));
};

/** Why another invoice, or a request that is at work, keeps the key from the line. */
export const checkHolder = async (
  holder: InvoiceId | 'in_use' | undefined,
  { data: { mode, companyId, invoiceId } }: PlannedImport,
  { store }: CheckDeps,
): Promise<ImportCheck | undefined> => {
  if (holder === undefined || holder === invoiceId) return undefined;
  if (holder === 'in_use') return { kind: 'refused', problem: 'a request works on idempotency_key now' };
  // The row of an invoice that the log has lost is forgotten when issuing resumes.
  const held = await loadInvoice(invoiceStream(mode, companyId, holder), store);
  if (held.state.kind === 'none') return undefined;
  const problem = `idempotency_key is held by ${publicInvoiceId(holder)}${adviceOnHolder(held)}`;
  return { kind: 'refused', problem };
};

/** What the stream of the line holds of the invoice. */
export const checkInvoice = async (plan: PlannedImport, deps: CheckDeps): Promise<ImportCheck> =>
  checkLoaded(await loadInvoice(plan.stream, deps.store), plan, deps);

/** The same of an invoice that was read already. */
export const checkLoaded = (loaded: LoadedInvoice, plan: PlannedImport, deps: CheckDeps): ImportCheck => {
  const { data } = plan;
  if (loaded.state.kind === 'none') return { kind: 'open' };
  const note = noteOfAccepted(loaded, plan);
  if (note === 'fits') return { kind: 'open' };
  if (note === 'attached') return { kind: 'already_so', isAttached: true };
  if (note === 'recorded') return { kind: 'already_so' };
  if (note !== undefined) return { kind: 'refused', problem: note.problem };
  const found = checkOnRecord(loaded, data, { ...deps, now: deps.clock.now() });
  if (found === 'same') return { kind: 'already_so' };
  const { refused: problem, isOtherContent } = found;
  return present({ kind: 'refused' as const, problem, isOtherContent });
};

/** The refusal of a line whose invoice another writer has brought meanwhile. */
export const onRecord = async (plan: PlannedImport, { store }: CheckDeps): Promise<Refusal> => ({
  kind: 'refused',
  problem: otherContent(await loadInvoice(plan.stream, store), plan.data),
  isOtherContent: true,
});
