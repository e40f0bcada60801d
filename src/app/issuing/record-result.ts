import { randomUUID } from 'node:crypto';
import { noChange } from '../../domain/common/decision.js';
import type { StreamName } from '../../domain/common/ids.js';
import { unreachable } from '../../domain/common/unreachable.js';
import { type Decision, stale } from '../../domain/invoice/decision.js';
import type { InvoiceEvent, ReadInvoiceEvent } from '../../domain/invoice/events.js';
import { ATTEMPT_LOST } from '../../domain/invoice/send-decisions.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import { createBackoff } from '../../lib/backoff.js';
import { pause } from '../../lib/pause.js';
import type { SendResult } from '../../ports/authorizer.js';
import type { LoadedStream } from '../event-store/event-store.js';
import { type Command, StreamContended, transact } from '../event-store/transact.js';
import { commandOf } from './decide-and-append.js';
import { type IssuerDeps, noticesOf, sendNotice } from './deps.js';
import type { Job, Sending } from './send-definition.js';

/**
 * Records the result of a send, and tries again while the log cannot be used, because no look-up gives a refusal or an unsent document back. Returns
 * the state with the result; undefined when the stream no longer allows to record it, because it has lost the attempt where `ATTEMPT_LOST` says so.
 * `known`: the stream with the attempt.
 */
export const recordResult = async <K extends Sending>(
  job: Job<K>,
  key: K['key'],
  document: K['document'],
  result: SendResult<K['found']>,
  known: LoadedStream<InvoiceEvent>,
): Promise<InvoiceState | typeof ATTEMPT_LOST | undefined> => {
  const { stream, deps } = job;
  const command = commandOfResult(job, key, document, result, known);
  // A pause that has begun since the attempt may follow the loss of the attempt. Another process may then have appended an event at the same revision, so
  // the stream is read and compared.
  let first: typeof known | undefined = deps.pausing?.aborted === true ? undefined : known;
  const recorded = await despiteFaults(stream, deps, () => {
    const tried = transact({ ...command, known: first }, deps);
    // After an append of unknown outcome the stream is read before the next append.
    first = undefined;
    return tried;
  });
  if (result.kind === 'unknown' && result.signatureFault !== undefined) {
    sendNotice(deps, { kind: 'signature_unverified', stream, detail: result.signatureFault });
  }
  if (result.kind === 'done') {
    for (const notice of noticesOf(stream, result.result, 'ours')) sendNotice(deps, notice);
  }
  if (recorded.kind === 'refused') sendNotice(deps, { kind: 'outcome_not_recorded', stream, detail: result.kind });
  if ('certificateRefused' in result && result.certificateRefused === true) {
    sendNotice(deps, { kind: 'certificate_refused', stream });
  }
  if (recorded.kind === 'refused') return recorded.refused === ATTEMPT_LOST ? ATTEMPT_LOST : undefined;
  const { state } = recorded;
  if (result.kind === 'rejected' && state.kind === 'invoice') deps.onRefused?.(state.facts, result.codes);
  return state;
};

/**
 * All tries have one command id, so that an append whose answer was lost is known by its event. A failover between two tries may lose the attempt, and
 * another process may then make one of the same number. So a result belongs to the very event of its attempt, and without that event only a document is
 * recorded (ADR 14).
 */
const commandOfResult = <K extends Sending>(
  { definition, stream, deps }: Job<K>,
  key: K['key'],
  document: K['document'],
  result: SendResult<K['found']>,
  known: LoadedStream<InvoiceEvent>,
): Command<InvoiceState, InvoiceEvent, string> => {
  const at = deps.clock.now();
  const commandId = randomUUID();
  const decide = (state: InvoiceState, lost: readonly ReadInvoiceEvent[]): Decision => {
    if (lost.length > 0 && result.kind !== 'done') return stale(ATTEMPT_LOST);
    switch (result.kind) {
      case 'done':
        return definition.decideDone(state, key, result.result, document, at, lost);
      case 'not_sent':
        return definition.decideNotSent(state, { ...key, reason: result.reason, codes: result.codes, at });
      case 'rejected': {
        const { kind: _kind, ...answer } = result;
        return definition.decideRejected(state, key, answer, at);
      }
      case 'unknown': {
        const {
          kind: _kind,
          outage: _outage,
          signatureFault: _fault,
          certificateRefused: _refused,
          ...answer
        } = result;
        return definition.decideUnknown(state, { ...key, ...answer, at });
      }
      default:
        return unreachable(result);
    }
  };
  const command = commandOf(stream, definition.sites.outcome, deps, (state) => decide(state, []));
  return {
    ...command,
    decide: (state, { events }) =>
      events.some(({ metadata }) => metadata.commandId === commandId)
        ? noChange
        : decide(state, lostOf(known.events, events)),
    context: (now, last) => ({ ...command.context(now, last), commandId }),
  };
};

type Events = LoadedStream<InvoiceEvent>['events'];

/** The known events that the stream no longer holds; empty while it holds the last of them, the attempt. */
const lostOf = (known: Events, held: Events): Events => {
  const isLost = ({ id }: Events[number]): boolean => !held.some((event) => event.id === id);
  const sent = known.at(-1);
  return sent !== undefined && isLost(sent) ? known.filter(isLost) : [];
};

/** Milliseconds between two tries, which double. */
const TRY_AGAIN_MS = { first: 100, longest: 5_000 };

/** How long tries continue: longer than a restart or a failover of a database and than an election. Afterwards look-ups find out what they can. */
const TRIED_FOR_MS = 10 * 60_000;

/** How long tries continue in a process that stops. Together with a send under way this ends before the process is cut off (55 s). */
const TRIED_FOR_IN_STOP_MS = 10_000;

/** Runs `record` until it succeeds. Throws what it throws when that is no fault of an engine, or when the time is over. */
const despiteFaults = async <T>(
  stream: StreamName,
  { engineFaults, stopping }: Pick<IssuerDeps, 'engineFaults' | 'stopping'>,
  record: () => Promise<T>,
): Promise<T> => {
  const waits = createBackoff(TRY_AGAIN_MS.first, TRY_AGAIN_MS.longest);
  const began = performance.now();
  let stopSeen: number | undefined;
  for (;;) {
    try {
      return await record();
    } catch (error) {
      const mayPass = error instanceof StreamContended || engineFaults?.isFault(error) === true;
      const now = performance.now();
      if (stopping?.aborted) stopSeen ??= now;
      const until = Math.min(began + TRIED_FOR_MS, (stopSeen ?? Number.POSITIVE_INFINITY) + TRIED_FOR_IN_STOP_MS);
      if (engineFaults === undefined || !mayPass || now >= until) throw error;
      engineFaults.report(stream, error);
      await pause(waits.next(), stopSeen === undefined ? stopping : undefined);
    }
  }
};
