import { gzipSync } from 'node:zlib';
import { cannotBeCanceled, settleAsCanceled, whyDoubtful } from '../../domain/invoice/settle.js';
import { sha256Hex } from '../hashes.js';
import { compareRequest, foundRequest, sentRequests } from '../issuer/record-cancel-answer.js';
import { loadInvoice } from '../read/read-invoice.js';
import { recordSettlement } from './record-settlement.js';
import {
  alarmOf,
  inconclusive,
  refusedResult,
  type SettleCommand,
  type SettleDeps,
  type SettleResult,
} from './settlement.js';

/**
 * Canceled only with the event at the authorizer, ours or another's: its exact bytes go into the log. What is not our own request
 * must be vouched for by the authorizer's signature.
 */
export const settleCanceled = async (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const { state, events } = await loadInvoice(command.stream, deps.store);
  const against = cannotBeCanceled(state);
  if (against !== undefined) return 'refused' in against ? refusedResult(against.refused) : { kind: 'already_so' };
  const accessKey = state.kind === 'invoice' && state.outcome.status === 'issued' ? state.outcome.accessKey : undefined;
  if (state.kind !== 'invoice' || accessKey === undefined) return refusedResult('it has no access key to look for');
  const found = await deps.authorizer.findCancellation(state.facts, accessKey);
  if (found.kind === 'absent') return refusedResult('the authorizer has no cancellation event for this note');
  if (found.kind === 'inconclusive') return refusedResult(inconclusive(found.reason));
  const owner = compareRequest(found.found, sentRequests(events));
  const document = foundRequest(found.found);
  await alarmOf(command.stream, document, owner, deps);
  const doubt = owner === 'unknown' ? whyDoubtful(document) : undefined;
  if (doubt !== undefined) return refusedResult(doubt);
  const { xml, registeredAt } = found.found;
  const data = {
    ...{ evidence: command.evidence, eventXmlGzip: gzipSync(xml).toString('base64'), eventSha256: sha256Hex(xml) },
    ...{ canceledAt: registeredAt, at: deps.clock.now() },
  };
  return await recordSettlement(
    command.stream,
    (current) => settleAsCanceled(current, data),
    `canceled ${registeredAt}`,
    deps,
  );
};
