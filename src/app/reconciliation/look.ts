import {
  type Held,
  isReconcilable,
  type ReconciliationQuestion,
  reconciliationQuestions,
} from '../../domain/invoice/reconciliation.js';
import { type FoundDocument, isDoubtful, type Owner } from '../../domain/invoice/sent-document.js';
import type { Invoice } from '../../domain/invoice/state.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { addSeconds, isBefore } from '../../domain/shared/time.js';
import { compareNote, foundNote } from '../issuer/authorized.js';
import { doubtsOf, tell } from '../issuer/deps.js';
import { compareRequest, foundRequest, sentRequests } from '../issuer/record-cancel-answer.js';
import { type LoadedInvoice, loadInvoice } from '../read/read-invoice.js';
import type { LookResult, ReconcileDeps } from './deps.js';
import { recordDifferences } from './record-differences.js';

export type Look = {
  result: LookResult;
  /** Of an answer that proved nothing. */
  reason?: string;
  /** Questions whose absence was heard for the first time. */
  absentOnce: readonly string[];
};

/** The `reason` of a look that met a document which nobody vouches for: the next round looks again, and none before. */
export const DOUBTFUL_DOCUMENT = 'document_doubtful';

const leftAlone: Look = { result: 'left_alone', absentOnce: [] };

/**
 * Asks the authorizer what it holds of one invoice and records what differs. `awaited` are the questions whose absence was
 * heard before, long enough ago; an absence heard now for the first time proves nothing yet.
 */
export const lookAt = async (stream: StreamName, awaited: readonly string[], deps: ReconcileDeps): Promise<Look> => {
  const loaded = await loadInvoice(stream, deps.store);
  const { state } = loaded;
  const { clock, limits } = deps;
  if (!isReconcilable(state, limits.testRetentionSeconds, clock.now()) || !isSettled(loaded, deps)) return leftAlone;
  const questions = reconciliationQuestions(state);
  if (questions.length === 0) return leftAlone;

  const held: Held[] = [];
  const absentOnce: string[] = [];
  let doubt: string | undefined;
  for (const question of questions) {
    const answer = await ask(stream, { state, events: loaded.events }, question, deps);
    if ('doubt' in answer) {
      doubt = answer.doubt;
      continue;
    }
    if ('reason' in answer) {
      // What the answers before it showed is true whatever this one hides.
      await recordDifferences(stream, held, deps);
      return { result: 'inconclusive', reason: answer.reason, absentOnce: [] };
    }
    if (answer.held === 'absent' && needsProof(state, question) && !awaited.includes(keyOf(question))) {
      absentOnce.push(keyOf(question));
    } else {
      held.push(answer);
    }
  }
  const found = await recordDifferences(stream, held, deps);
  // The other questions were asked all the same: an altered document must not hide what else differs.
  if (doubt !== undefined) return { result: 'inconclusive', reason: doubt, absentOnce: [] };
  if (absentOnce.length > 0) return { result: 'absent_once', absentOnce };
  return { result: found ? 'differs' : 'agrees', absentOnce };
};

/**
 * The last thing that happened to it is old enough that nobody is in the middle of anything. What a walk found is no such thing:
 * it would put off the second hearing of what else is missing.
 */
const isSettled = ({ events }: LoadedInvoice, { clock, settings }: ReconcileDeps): boolean => {
  const last = events.findLast(({ type }) => type !== 'ReconciliationDifferenceFound');
  const recordedAt = last?.metadata.recordedAt;
  return recordedAt !== undefined && !isBefore(clock.now(), addSeconds(recordedAt, settings.settledSeconds));
};

/** Where we hold none either, an absence is what we expect and needs no second hearing. */
const needsProof = ({ outcome, cancellation }: Invoice, { about }: ReconciliationQuestion): boolean =>
  outcome.status === 'issued' && (about === 'note' || cancellation?.status === 'succeeded');

const keyOf = (question: ReconciliationQuestion): string =>
  question.about === 'note' ? `note/${question.dpsId}` : 'cancellation';

type Asked = Pick<LoadedInvoice, 'events'> & { state: Invoice };

type Answer = Held | { reason: string } | { doubt: string };

const ask = async (
  stream: StreamName,
  { state, events }: Asked,
  question: ReconciliationQuestion,
  deps: ReconcileDeps,
): Promise<Answer> => {
  const { authorizer } = deps;
  if (question.about === 'cancellation') {
    const answer = await authorizer.findCancellation(state.facts, question.accessKey);
    if (answer.kind === 'inconclusive') return answer;
    if (answer.kind === 'absent') return { ...question, held: 'absent' };
    const owner = compareRequest(answer.found, sentRequests(events));
    return isReliable(stream, foundRequest(answer.found), owner, deps) ? { ...question, held: 'event' } : DOUBTFUL;
  }
  const answer = await authorizer.findByDps(state.facts, question.dpsId);
  if (answer.kind === 'inconclusive') return answer;
  if (answer.kind === 'absent') return { ...question, held: 'absent' };
  const document = foundNote(answer.found);
  if (!isReliable(stream, document, compareNote(state, answer.found), deps)) return DOUBTFUL;
  return { ...question, held: { accessKey: answer.found.accessKey, ...document } };
};

const DOUBTFUL = { doubt: DOUBTFUL_DOCUMENT };

/** Tells the alarms of what was found. False for what nobody vouches for and is not ours: neither agreement nor difference. */
const isReliable = (stream: StreamName, found: FoundDocument, owner: Owner, deps: ReconcileDeps): boolean => {
  for (const doubt of doubtsOf(stream, found, owner)) tell(deps, doubt);
  return owner !== 'unknown' || !isDoubtful(found);
};
