import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addSeconds } from '../../../src/domain/common/time.js';
import * as cancellation from '../../../src/domain/invoice/decide-cancellation.js';
import * as issuance from '../../../src/domain/invoice/decide-issuance.js';
import type { Decision } from '../../../src/domain/invoice/decision.js';
import { evolve } from '../../../src/domain/invoice/evolve.js';
import { verdictByTime } from '../../../src/domain/invoice/next-issue-step.js';
import { requestCancellation } from '../../../src/domain/invoice/request-cancellation.js';
import * as sends from '../../../src/domain/invoice/send-decisions.js';
import type { Invoice, InvoiceState } from '../../../src/domain/invoice/state.js';
import { invoiceStatus } from '../../../src/domain/invoice/status.js';
import {
  accepted,
  at,
  attempted,
  authorizedData,
  cancelAttempted,
  given,
  limits,
  notSent,
  unknown,
} from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';

type Command = (invoice: Invoice, seconds: number) => Decision;

const attemptOf = (invoice: Invoice): number => invoice.attempts.at(-1)?.attempt ?? 0;
const requestOf = (invoice: Invoice): number => invoice.cancellation?.request ?? 0;
const sendOf = (invoice: Invoice): number => invoice.cancellation?.sends.at(-1)?.attempt ?? 0;

/** Everything that workers, sweepers and clients may ask for, in any order and at any time. */
const commands: Record<string, Command> = {
  attempt: (invoice, s) => sends.decideAttempt(invoice, attempted(attemptOf(invoice) + 1, s)),
  notSent: (invoice, s) => sends.decideAnswer(invoice, notSent(attemptOf(invoice), s)),
  unknown: (invoice, s) => sends.decideAnswer(invoice, unknown(attemptOf(invoice), s)),
  refuse: (invoice, s) =>
    sends.decideAnswer(invoice, {
      type: 'IssuanceOutcomeUnknown',
      data: { attempt: attemptOf(invoice), reason: 'x', refused: true, codes: [UNCATALOGUED_CODE], at: at(s) },
    }),
  reject: (invoice, s) =>
    issuance.decideRejection(invoice, { attempt: attemptOf(invoice) }, { codes: ['E0188'] }, at(s)),
  authorize: (invoice, s) => issuance.decideAuthorized(invoice, authorizedData(attemptOf(invoice), s)),
  absent: (invoice, s) =>
    issuance.decideAbsence(invoice, { attempt: attemptOf(invoice), firstAbsentAt: at(s - 301), now: at(s) }, limits),
  conclude: (invoice, s) => issuance.decideVerdict(invoice, verdictByTime(invoice, limits), at(s), limits, false),
  requestCancel: (invoice, s) => requestCancellation(invoice, { now: at(s) }),
  cancelAttempt: (invoice, s) =>
    sends.decideAttempt(invoice, cancelAttempted(sendOf(invoice) + 1, s, requestOf(invoice))),
  cancelUnknown: (invoice, s) =>
    sends.decideAnswer(invoice, {
      type: 'CancellationOutcomeUnknown',
      data: { request: requestOf(invoice), attempt: sendOf(invoice), reason: 'x', codes: [], at: at(s) },
    }),
  cancelConfirm: (invoice, s) =>
    cancellation.decideConfirmed(invoice, {
      request: requestOf(invoice),
      eventXmlGzip: 'H4sI',
      eventSha256: 'b'.repeat(64),
      canceledAt: at(s),
      evidence: 'lookup' as const,
      at: at(s),
    }),
  cancelConclude: (invoice, s) => cancellation.decideTimeout(invoice, at(s), limits, false),
};

const history = fc.record({
  mode: fc.constantFrom('live' as const, 'test' as const),
  steps: fc.array(fc.tuple(fc.constantFrom(...Object.keys(commands)), fc.integer({ min: 0, max: 1500 })), {
    maxLength: 30,
  }),
});

const play = (
  { mode, steps }: { mode: 'live' | 'test'; steps: [string, number][] },
  visit: (before: Invoice, decision: Decision, after: Invoice, repeat: Decision) => void,
): void => {
  let state: InvoiceState = given(accepted({ mode }));
  let seconds = 0;
  for (const [name, pause] of steps) {
    seconds += pause;
    const command = commands[name];
    if (state.kind !== 'invoice' || command === undefined) throw new Error('a played invoice stays one');
    const before: Invoice = state;
    const decision = command(before, seconds);
    if ('events' in decision) state = decision.events.reduce<InvoiceState>(evolve, before);
    if (state.kind !== 'invoice') throw new Error('a played invoice stays one');
    const again = name === 'attempt' || name === 'cancelAttempt' ? decision : command(state, seconds);
    visit(before, decision, state, again);
  }
};

describe('whatever is asked, in any order', () => {
  it('a refusal with an uncatalogued code is never sent again, and fails only after two absences past its deadline', () => {
    fc.assert(
      fc.property(history, (played) => {
        play(played, (before, decision, after) => {
          const last = before.attempts.at(-1);
          if (last?.refused !== true) return;
          expect(after.attempts).toHaveLength(before.attempts.length);
          const [event] = 'events' in decision ? decision.events : [];
          if (after.outcome.status !== 'failed' || event?.type !== 'IssuanceRejected') return;
          expect(event.data.codes).toEqual(last.codes);
          expect((event.data.firstAskedAt ?? '') >= last.deadlineAt).toBe(true);
          expect(event.data.secondAskedAt).toBe(addSeconds(event.data.firstAskedAt ?? '', 301));
        });
      }),
    );
  });

  it('an outcome never changes, except issued to canceled (invariant 5)', () => {
    fc.assert(
      fc.property(history, (played) => {
        play(played, (before, _decision, after) => {
          const [from, to] = [invoiceStatus(before), invoiceStatus(after)];
          if (['failed', 'indeterminate', 'canceled'].includes(from)) expect(to).toBe(from);
          if (from === 'issued') expect(['issued', 'canceled']).toContain(to);
          if (before.outcome.status === 'issued') expect(after.outcome).toEqual(before.outcome);
        });
      }),
    );
  });

  it('the same command twice gives no second event (invariant 6)', () => {
    fc.assert(
      fc.property(history, (played) => {
        play(played, (_before, decision, after, again) => {
          if ('refused' in decision || decision.events.length === 0) return;
          const [first] = decision.events;
          if (first?.type === 'IssuanceAttempted' || first?.type === 'CancellationAttempted') {
            expect('refused' in sends.decideAttempt(after, first)).toBe(true);
            return;
          }
          expect('events' in again ? again.events : []).toEqual([]);
        });
      }),
    );
  });

  it('failed is reached only when no bytes may have arrived (invariant 2)', () => {
    fc.assert(
      fc.property(history, (played) => {
        play(played, (_before, _decision, after) => {
          if (after.outcome.status !== 'failed') return;
          const mayHaveArrived = after.attempts.filter(
            ({ resolution }) => resolution !== 'not_sent' && resolution !== 'rejected',
          );
          expect(mayHaveArrived).toEqual([]);
        });
      }),
    );
  });
});
