import { gzipSync } from 'node:zlib';
import { type Settlement, settleAsIssued } from '../../domain/invoice/settle.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import type { AuthorizedNote, LookupResult } from '../../ports/authorizer.js';
import { sha256Hex } from '../hashes.js';
import { compareNote, foundNote } from '../issuer/authorized.js';
import { loadInvoice } from '../read/read-invoice.js';
import { recordSettlement } from './record-settlement.js';
import { settleCanceled } from './settle-canceled.js';
import { settleFailed } from './settle-failed.js';
import {
  alarmOf,
  inconclusive,
  refusedResult,
  type SettleCommand,
  type SettleDeps,
  type SettleResult,
} from './settlement.js';

/**
 * Support settles what the protocol could not: an indeterminate invoice, or a cancellation that ended as failed. The authorizer
 * is asked in every case and nothing is recorded on a word alone (interface.md "invoice resolve", design section 11, 5). Throws
 * what the log throws.
 */
export const settleInvoice = (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  switch (command.as) {
    case 'issued':
      return settleIssued(command, deps);
    case 'failed':
      return settleFailed(command, deps);
    case 'canceled':
      return settleCanceled(command, deps);
    default:
      return unreachable(command.as);
  }
};

const settleIssued = async (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const { state } = await loadInvoice(command.stream, deps.store);
  if (state.kind !== 'invoice') return refusedResult('there is no such invoice (any more)');
  if (state.outcome.status !== 'indeterminate' && state.outcome.status !== 'issued')
    return refusedResult('only an indeterminate invoice is settled as issued');
  const found = await lookUp(state, command, deps);
  if (found.kind === 'absent') return refusedResult('the authorizer has no such document');
  if (found.kind === 'inconclusive') return refusedResult(inconclusive(found.reason));
  const note = found.found;
  const document = foundNote(note);
  await alarmOf(command.stream, document, compareNote(state, note), deps);
  const decide = (current: InvoiceState): Settlement =>
    settleAsIssued(
      current,
      { dpsId: note.dpsId, ...document },
      {
        ...{ accessKey: note.accessKey, nfseNumber: note.nfseNumber, authorizedAt: note.authorizedAt },
        ...{ nfseXmlGzip: gzipSync(note.xml).toString('base64'), nfseSha256: sha256Hex(note.xml) },
        ...{ evidence: command.evidence, at: deps.clock.now() },
      },
    );
  return await recordSettlement(command.stream, decide, `issued, access key ${note.accessKey}`, deps);
};

/** By the key that the operator gives, else by the DPS ids of the attempts, newest first. */
const lookUp = async (
  state: Extract<InvoiceState, { kind: 'invoice' }>,
  { accessKey }: SettleCommand,
  { authorizer }: SettleDeps,
): Promise<LookupResult<AuthorizedNote>> => {
  const { facts, attempts } = state;
  if (accessKey !== undefined) return await authorizer.findByAccessKey(facts, accessKey);
  let last: LookupResult<AuthorizedNote> = { kind: 'absent' };
  for (const dpsId of new Set(attempts.map((attempt) => attempt.dpsId).reverse())) {
    last = await authorizer.findByDps(facts, dpsId);
    if (last.kind !== 'absent') return last;
  }
  return last;
};
