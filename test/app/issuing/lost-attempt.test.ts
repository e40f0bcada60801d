import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { concludeIssueIfDue } from '../../../src/app/issuing/note.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { foldInvoice, type InvoiceFold, noEvents } from '../../../src/domain/log/invoice-fold.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import { at, attempted, cancelAttempted, cancelRequested } from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';
import { appendTo, fixedKeys } from '../../support/harness/event-store.js';
import type { Turn } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

/** The log fails over now: `kept` events of the stream are left, another process appends `others`, and issuing pauses. */
const failOver = async (harness: IssuingHarness, kept: number, others: readonly InvoiceEvent[]): Promise<void> => {
  const { deps, log, stream, clock } = harness;
  const standby = memoryEventLog();
  await standby.append(stream, { kind: 'none' }, (await log.read(stream)).slice(0, kept));
  deps.store = createEventStore(standby, fixedKeys());
  deps.pausing = AbortSignal.abort();
  if (others.length > 0) await appendTo(deps.store, stream, others, clock.now());
};

/** The log fails over when the answer of the next send is to be recorded. */
const failOverAtAnswer = (harness: IssuingHarness, kept: number, others: readonly InvoiceEvent[]): void => {
  const { deps, store } = harness;
  const refuse = async (): Promise<never> => {
    await failOver(harness, kept, others);
    throw new EventLogUnavailable('down');
  };
  deps.store = {
    ...store,
    append: (of, version, events, context) =>
      context.site.endsWith('_outcome') ? refuse() : store.append(of, version, events, context),
  };
  deps.engineFaults = { isFault: (error) => error instanceof EventLogUnavailable, report: () => undefined };
};

/** The log fails over while the next send waits for its answer, and the pause is recorded before the answer comes. */
const failOverDuringSend = (harness: IssuingHarness, kept: number, others: readonly InvoiceEvent[]): void => {
  const { deps } = harness;
  const { authorizer } = deps;
  const during = async <T>(answer: Promise<T>): Promise<T> => {
    const answered = await answer;
    await failOver(harness, kept, others);
    return answered;
  };
  deps.authorizer = {
    ...authorizer,
    sendDps: (...given) => during(authorizer.sendDps(...given)),
    sendCancellation: (...given) => during(authorizer.sendCancellation(...given)),
  };
};

/** The events of the new log after those that were kept, and the first breach that `audit verify` would report. */
const leftOf = async ({ stream, deps }: IssuingHarness, kept: number) => {
  const { events } = await loadInvoice(stream, deps.store);
  let fold: InvoiceFold = noEvents;
  let breach: string | undefined;
  for (const event of events) {
    const next: ReturnType<typeof foldInvoice> = breach === undefined ? foldInvoice(fold, event) : fold;
    if ('breach' in next) ({ breach } = next);
    else fold = next;
  }
  return { events: events.slice(kept).map(({ type, data }) => ({ type, data })), breach };
};

/** The attempt of another process at the cancellation of the note of this harness. */
const cancelAttemptedOfNote = ({ authorizer }: IssuingHarness): InvoiceEvent => {
  const { type, data } = cancelAttempted(1, 5);
  return { type, data: { ...data, requestId: `PRE${authorizer.notes[0]?.accessKey}101101` } };
};

const NOT_RECORDED = (detail: string) => [expect.objectContaining({ kind: 'outcome_not_recorded', detail })];

describe('the kept answer to an attempt that a failover has lost', () => {
  const issueOver = async (turn: Turn, others: (sentDpsId: string) => readonly InvoiceEvent[] = () => []) => {
    const twin = await issuingHarness();
    await twin.issueToTheEnd();
    const harness = await issuingHarness();
    failOverAtAnswer(harness, 1, others(twin.authorizer.notes[0]?.dpsId ?? ''));
    harness.authorizer.script = [turn];
    await harness.issue();
    const { events, breach } = await leftOf(harness, 1);
    expect(breach).toBe(undefined);
    return { events, notices: harness.notices };
  };

  it('gives its note to the invoice, as that of a lost attempt', async () => {
    const { events, notices } = await issueOver('answer');
    expect(events).toMatchObject([
      { type: 'Authorized', data: { attempt: 1, attemptLost: true, evidence: 'response' } },
    ]);
    expect(notices).toEqual([]);
  });

  it('gives its note to the invoice beside an attempt under another number', async () => {
    const { events } = await issueOver('answer', () => [attempted(1, 3)]);
    expect(events.slice(1)).toMatchObject([{ type: 'Authorized', data: { attempt: 2, attemptLost: true } }]);
  });

  it('gives its note to an attempt under the same DPS id', async () => {
    const again = { ...attempted(1, 3) };
    const { events } = await issueOver('answer', (dpsId) => [{ ...again, data: { ...again.data, dpsId } }]);
    expect(events.slice(1)).toMatchObject([{ type: 'Authorized', data: { attempt: 1 } }]);
    expect(events[1]?.data).not.toHaveProperty('attemptLost');
  });

  it.each([
    ['a refusal', 'rejected', { rejected: ['E0160'] }],
    ['an unknown outcome', 'unknown', { unknown: [UNCATALOGUED_CODE] }],
    ['that nothing was sent', 'not_sent', 'not_sent'],
  ] as const)('is only told to operators, and no word on a later attempt: %s', async (_what, kind, turn) => {
    expect(await issueOver(turn)).toEqual({ events: [], notices: NOT_RECORDED(kind) });
    const beside = await issueOver(turn, () => [attempted(1, 3)]);
    expect(beside).toEqual({
      events: [expect.objectContaining({ type: 'IssuanceAttempted' })],
      notices: NOT_RECORDED(kind),
    });
  });
});

describe('an answer that comes when the loss of its attempt was already noticed and another process has appended at its revision', () => {
  const other = attempted(1, 3);

  it.each([
    ['a refusal', 'rejected', { rejected: ['E0160'] }],
    ['an unknown outcome', 'unknown', { unknown: [UNCATALOGUED_CODE] }],
    ['that nothing was sent', 'not_sent', 'not_sent'],
  ] as const)(
    'is only told to operators, and no word on the attempt of the other process: %s',
    async (_what, kind, turn) => {
      const harness = await issuingHarness();
      failOverDuringSend(harness, 1, [other]);
      harness.authorizer.script = [turn];
      await harness.issue();
      expect(await leftOf(harness, 1)).toMatchObject({ events: [{ type: 'IssuanceAttempted' }], breach: undefined });
      expect(harness.notices).toEqual(NOT_RECORDED(kind));
    },
  );

  it('gives its note to the invoice beside that attempt, and its event to the request', async () => {
    const harness = await issuingHarness();
    failOverDuringSend(harness, 1, [other]);
    const canceled = await issuingHarness();
    await canceled.issueToTheEnd();
    await canceled.record(cancelRequested(0));
    failOverDuringSend(canceled, 4, [cancelAttemptedOfNote(canceled)]);
    await harness.issue();
    await canceled.cancel();
    expect(await leftOf(harness, 2)).toMatchObject({
      events: [{ type: 'Authorized', data: { attempt: 2, attemptLost: true } }],
      breach: undefined,
    });
    expect(await leftOf(canceled, 5)).toMatchObject({ events: [{ type: 'CancellationConfirmed' }], breach: undefined });
    expect([...harness.notices, ...canceled.notices]).toEqual([]);
  });
});

describe('an invoice whose attempt the log has lost', () => {
  /** The authorizer has made a note, and the answer is lost at `seconds`, together with the attempt. */
  const lostAt = async (seconds: number, stopping?: AbortSignal): Promise<IssuingHarness> => {
    const harness = await issuingHarness();
    const { clock, authorizer } = harness;
    clock.moveTo(at(seconds - 15));
    failOverDuringSend(harness, 1, []);
    authorizer.script = ['lost_answer'];
    const { sendDps } = harness.deps.authorizer;
    harness.deps.authorizer.sendDps = async (...given) => {
      const answer = await sendDps(...given);
      clock.moveTo(at(seconds));
      if (stopping !== undefined) harness.deps.stopping = stopping;
      return answer;
    };
    return harness;
  };

  it.each([
    ['goes on', undefined],
    ['stops', AbortSignal.abort()],
  ])(
    'is left to other processes only when they have seen the pause, which this process records: it %s',
    async (_what, stopping) => {
      const harness = await lostAt(100, stopping);
      expect(await harness.issue()).toEqual({ kind: 'later', at: at(160) });
      expect(harness.authorizer.sends).toHaveLength(1);
    },
  );

  it('gets no verdict of time in the pause, because the lost attempt may have left a note', async () => {
    const harness = await lostAt(905);
    expect(await harness.issue()).toEqual({ kind: 'later', at: at(965) });
    expect(await harness.issue()).toEqual({ kind: 'later', at: at(910) });
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await leftOf(harness, 1)).toEqual({ events: [], breach: undefined });
    delete harness.deps.pausing;
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await leftOf(harness, 1)).toMatchObject({ events: [{ type: 'NotProcessed' }], breach: undefined });
  });
});

describe('an invoice whose log was away a moment ago', () => {
  it('is not sent before a pause is seen that another process may have to record, and then once', async () => {
    const harness = await issuingHarness();
    harness.deps.wasAway = () => true;
    expect(await harness.issue()).toEqual({ kind: 'later', at: at(5) });
    expect(await harness.types()).toEqual(['InvoiceAccepted']);
    harness.deps.wasAway = () => false;
    await harness.issueToTheEnd();
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(await harness.status()).toBe('issued');
  });

  it('is not sent by an attempt that was recorded while the log was away', async () => {
    const harness = await issuingHarness();
    let asked = 0;
    harness.deps.wasAway = () => {
      asked += 1;
      return asked === 2;
    };
    await harness.issue();
    expect(harness.authorizer.sends).toEqual([]);
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceNotSent']);
  });

  it('gets no verdict of time', async () => {
    const harness = await issuingHarness();
    harness.clock.moveTo(at(905));
    harness.deps.wasAway = () => true;
    expect(await harness.issue()).toEqual({ kind: 'later', at: at(910) });
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.types()).toEqual(['InvoiceAccepted']);
    harness.deps.wasAway = () => false;
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'NotProcessed']);
  });
});

describe('the kept answer to a cancellation whose attempt a failover has lost', () => {
  /** `kept`: 3 with the request, 2 without. */
  const cancelOver = async (
    turn: Turn,
    kept: number,
    others: (harness: IssuingHarness) => readonly InvoiceEvent[] = () => [],
  ) => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(0));
    failOverAtAnswer(harness, kept + 1, others(harness));
    harness.authorizer.script = [turn];
    await harness.cancel();
    const { events, breach } = await leftOf(harness, kept + 1);
    expect(breach).toBe(undefined);
    return { types: events.map(({ type }) => type), notices: harness.notices };
  };

  it('confirms the request that the log still has', async () => {
    expect(await cancelOver('answer', 3)).toEqual({ types: ['CancellationConfirmed'], notices: [] });
  });

  it('confirms no request when the log has lost the one that was sent', async () => {
    const other = cancelRequested(5);
    expect(await cancelOver('answer', 2, () => [other])).toEqual({
      types: ['CancellationRequested'],
      notices: NOT_RECORDED('done'),
    });
  });

  it('ends no later attempt as refused', async () => {
    expect(await cancelOver({ rejected: ['E0822'] }, 3, (harness) => [cancelAttemptedOfNote(harness)])).toEqual({
      types: ['CancellationAttempted'],
      notices: NOT_RECORDED('rejected'),
    });
  });
});
