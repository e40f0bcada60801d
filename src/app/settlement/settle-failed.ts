import { absenceGapSeconds } from '../../domain/invoice/limits.js';
import { absencesToProve, type ProvenAbsence, settleAsFailed } from '../../domain/invoice/settle.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { addSeconds, isBefore, latest } from '../../domain/shared/time.js';
import { loadInvoice } from '../read/read-invoice.js';
import { recordSettlement } from './record-settlement.js';
import { inconclusive, refusedResult, type SettleCommand, type SettleDeps, type SettleResult } from './settlement.js';

/**
 * Failed only with every DPS id proven absent: two answers of the authorizer's own "not there", apart as the protocol demands,
 * both at least 24 h after the last attempt. The first of two is kept like those of the protocol; losing it costs time only.
 */
export const settleFailed = async (command: SettleCommand, deps: SettleDeps): Promise<SettleResult> => {
  const { stream, evidence } = command;
  const { state } = await loadInvoice(stream, deps.store);
  if (state.kind === 'invoice' && state.outcome.status === 'failed') return { kind: 'already_so' };
  const wanted = absencesToProve(state, deps.clock.now());
  if ('refused' in wanted) return refusedResult(wanted.refused);
  if (state.kind !== 'invoice') return refusedResult('there is no such invoice (any more)');

  const absences: ProvenAbsence[] = [];
  let again: string | undefined;
  for (const dpsId of wanted.dpsIds) {
    const heard = await ask(command, state, dpsId, deps);
    if ('refused' in heard) return refusedResult(heard.refused);
    if ('proven' in heard) absences.push(heard.proven);
    else again = again === undefined ? heard.secondFrom : latest(again, heard.secondFrom);
  }
  if (again !== undefined)
    return { kind: 'ask_again', at: again, detail: 'the authorizer has no such document; it is asked once more' };
  const decide = (current: typeof state) =>
    settleAsFailed(current, absences, { evidence, now: deps.clock.now() }, deps.limits);
  const result = await recordSettlement(
    stream,
    (current) => (current.kind === 'invoice' ? decide(current) : { refused: 'there is no such invoice (any more)' }),
    'failed, no document exists',
    deps,
  );
  await deps.lookups.forget(stream);
  return result;
};

type Heard = { refused: string } | { proven: ProvenAbsence } | { secondFrom: string };

const ask = async ({ stream }: SettleCommand, invoice: Invoice, dpsId: string, deps: SettleDeps): Promise<Heard> => {
  const work = `settle/${dpsId}`;
  const askedAt = deps.clock.now();
  const memo = (await deps.lookups.get(stream, work)) ?? { asked: 0 };
  const answer = await deps.authorizer.findByDps(invoice.facts, dpsId);
  if (answer.kind === 'inconclusive') return { refused: inconclusive(answer.reason) };
  if (answer.kind === 'found') {
    // What was heard before is worth nothing any more: a late commit has come.
    await deps.lookups.put(stream, work, { asked: memo.asked + 1, lastAskedAt: askedAt });
    return { refused: `the authorizer has a document under ${dpsId}: try --as issued` };
  }
  const firstAbsentAt = 'firstAbsentAt' in memo ? memo.firstAbsentAt : undefined;
  const first = firstAbsentAt ?? askedAt;
  const secondFrom = addSeconds(first, absenceGapSeconds(deps.limits));
  if (firstAbsentAt !== undefined && !isBefore(askedAt, secondFrom))
    return { proven: { dpsId, firstAskedAt: first, secondAskedAt: askedAt } };
  await deps.lookups.put(stream, work, { asked: memo.asked + 1, lastAskedAt: askedAt, firstAbsentAt: first });
  return { secondFrom };
};
