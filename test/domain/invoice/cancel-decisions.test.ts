import { describe, expect, it } from 'vitest';
import {
  decideCancelAbsence,
  decideCancelRejection,
  decideCancelUnsendable,
  decideConfirmed,
  decideTimeout,
} from '../../../src/domain/invoice/decide-cancellation.js';
import type { Decision } from '../../../src/domain/invoice/decision.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { decideAnswer, decideAttempt } from '../../../src/domain/invoice/send-decisions.js';
import type { InvoiceState } from '../../../src/domain/invoice/state.js';
import * as event from '../../support/fixture/invoice.js';

const { at, cancelAbsent, cancelAttempted, cancelNotSent, cancelUnknown, given, limits } = event;

const issued = [event.accepted(), event.attempted(1, 1), event.authorized(1, 2)] as const;
const asked = [...issued, event.cancelRequested(60)] as const;
const sent = [...asked, cancelAttempted(1, 61)] as const;

/** What is known of the first send of the cancellation. */
const histories: Record<string, readonly InvoiceEvent[]> = {
  'no invoice': [],
  'not asked for': issued,
  requested: asked,
  open: sent,
  'not sent': [...sent, cancelNotSent(1, 62)],
  unknown: [...sent, cancelUnknown(1, 62)],
  'unknown, E0840': [...sent, cancelUnknown(1, 62, ['E0840'])],
  absent: [...sent, cancelUnknown(1, 62), cancelAbsent(1, 200)],
  succeeded: [...sent, event.cancelConfirmed(63)],
  failed: [...sent, event.cancelNotConfirmed(63, ['E0822'])],
};

const commands: Record<string, (state: InvoiceState) => Decision> = {
  'send attempt 1': (state) => decideAttempt(state, cancelAttempted(1, 300)),
  'send attempt 2': (state) => decideAttempt(state, cancelAttempted(2, 300)),
  'not sent': (state) => decideAnswer(state, cancelNotSent(1, 300)),
  unknown: (state) => decideAnswer(state, cancelUnknown(1, 300)),
  refuse: (state) => decideCancelRejection(state, { request: 1, attempt: 1 }, { codes: ['E0822'] }, at(300)),
  confirm: (state) => decideConfirmed(state, event.confirmationData(300)),
  'prove absent': (state) =>
    decideCancelAbsence(state, { request: 1, attempt: 1, firstAbsentAt: at(150), now: at(300) }, limits),
  conclude: (state) => decideTimeout(state, at(90_000), limits, false),
  'give up as unfit': (state) => decideCancelUnsendable(state, 1, at(300)),
};

const NONE = 'no such pending cancellation';
const UNKNOWN = 'there is no such attempt';
const BUSY = 'another attempt is under way';
const NOT_LAST = 'not the last attempt';
const SETTLED = 'the attempt is settled';
const TRIED = 'an attempt was made';
const SO = 'already so';

const SENT = 'CancellationAttempted';
const DONE = 'CancellationConfirmed';
const OVER = 'CancellationNotConfirmed';
const ABSENT = 'CancellationProvenAbsent';

/** Rows: what is known. Columns: the commands above, in order. */
const table: Record<string, readonly string[]> = {
  'no invoice': [NONE, NONE, NONE, NONE, NONE, NONE, NOT_LAST, SO, SO],
  'not asked for': [NONE, NONE, NONE, NONE, NONE, NONE, NOT_LAST, SO, SO],
  requested: [SENT, BUSY, UNKNOWN, UNKNOWN, UNKNOWN, DONE, NOT_LAST, OVER, OVER],
  open: [BUSY, BUSY, 'CancellationNotSent', 'CancellationOutcomeUnknown', OVER, DONE, ABSENT, OVER, TRIED],
  'not sent': [BUSY, SENT, SO, SO, SO, DONE, SETTLED, OVER, TRIED],
  unknown: [BUSY, BUSY, SO, SO, SO, DONE, ABSENT, OVER, TRIED],
  'unknown, E0840': [BUSY, BUSY, SO, SO, SO, DONE, OVER, OVER, TRIED],
  absent: [BUSY, SENT, SO, SO, SO, DONE, SO, OVER, TRIED],
  succeeded: [NONE, NONE, NONE, NONE, NONE, SO, NOT_LAST, SO, SO],
  failed: [NONE, NONE, NONE, NONE, NONE, NONE, NOT_LAST, SO, SO],
};

const columns = Object.keys(commands);
const cells = Object.entries(table).flatMap(([known, row]) =>
  row.map((expected, index) => [known, columns[index] ?? '', expected] as const),
);

describe('given what is known of a cancellation', () => {
  it.each(cells)('%s, "%s" gives: %s', (known, column, expected) => {
    const command = commands[column];
    if (command === undefined) throw new Error(`no command ${column}`);
    expect(event.decisionText(command(given(...(histories[known] ?? []))))).toBe(expected);
  });

  it('every history and every command is in the table', () => {
    expect(Object.keys(table)).toEqual(Object.keys(histories));
    for (const row of Object.values(table)) expect(row).toHaveLength(columns.length);
  });
});

describe('a word on another request', () => {
  const second = given(
    event.accepted({ mode: 'test' }),
    event.attempted(1, 1),
    event.authorized(1, 2),
    event.cancelRequested(60),
    cancelAttempted(1, 61),
    event.cancelNotConfirmed(62, ['E0822']),
    event.cancelRequested(100, 2),
    cancelAttempted(1, 101, 2),
  );

  it('that ended before changes nothing of the one under way', () => {
    for (const [column, command] of Object.entries(commands)) {
      if (column === 'conclude') continue;
      const decision = command(second);
      expect('events' in decision ? decision.events : []).toEqual([]);
    }
  });

  it('while its own words count', () => {
    const { type, data } = cancelUnknown(1, 102);
    const own = { type, data: { ...data, request: 2 } };
    expect(decideAnswer(second, own)).toEqual({ events: [own] });
  });
});

describe('a time-out whose last look-up found the event', () => {
  const due = 61 + 3600;

  it('waits while the recording may be retried, and no longer', () => {
    const waits = { refused: 'its confirmation is still to be recorded' };
    const state = given(...sent);
    expect(decideTimeout(state, at(due - 1), limits, true)).toEqual({ refused: 'not due' });
    expect(decideTimeout(state, at(due), limits, true)).toEqual(waits);
    expect(decideTimeout(state, at(due + 599), limits, true)).toEqual(waits);
    expect(event.decisionText(decideTimeout(state, at(due + 600), limits, true))).toBe(OVER);
  });

  it('waits for less in a rehearsal with short windows', () => {
    const short = { ...limits, cancellationSeconds: 8 };
    expect(decideTimeout(given(...sent), at(61 + 9), short, true)).toHaveProperty('refused');
    expect(event.decisionText(decideTimeout(given(...sent), at(61 + 10), short, true))).toBe(OVER);
  });
});

describe('an answer belongs to its send', () => {
  const second = given(...sent, cancelNotSent(1, 62), cancelAttempted(2, 64));

  it('and is taken for the second when the first never left', () => {
    expect(decideAnswer(second, cancelUnknown(2, 65))).toEqual({
      events: [cancelUnknown(2, 65)],
    });
  });

  it('and proves nothing of the second when it speaks of the first', () => {
    const first = { request: 1, attempt: 1, firstAbsentAt: at(200), now: at(400) };
    expect(decideCancelAbsence(second, first, limits)).toEqual({ refused: 'not the last attempt' });
  });
});
