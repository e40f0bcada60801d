import { describe, expect, it } from 'vitest';
import {
  decideAbsence,
  decideAuthorized,
  decideNumberConflict,
  decideRejection,
  decideUnsendable,
} from '../../../src/domain/invoice/decide-issuance.js';
import type { Decision } from '../../../src/domain/invoice/decision.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { decideAnswer, decideAttempt, saidTo } from '../../../src/domain/invoice/send-decisions.js';
import type { InvoiceState } from '../../../src/domain/invoice/state.js';
import * as event from '../../support/fixture/invoice.js';

const { at, given } = event;

/** What is known of the first attempt, or of the invoice as a whole. */
const histories: Record<string, readonly InvoiceEvent[]> = {
  'no invoice': [],
  queued: [event.accepted()],
  open: [event.accepted(), event.attempted(1, 1)],
  'not sent': [event.accepted(), event.attempted(1, 1), event.notSent(1, 2)],
  unknown: [event.accepted(), event.attempted(1, 1), event.unknown(1, 2)],
  absent: [event.accepted(), event.attempted(1, 1), event.unknown(1, 2), event.provenAbsent(1, 130)],
  foreign: [event.accepted(), event.attempted(1, 1), event.unknown(1, 2), event.conflictFound(1, 40)],
  issued: [event.accepted(), event.attempted(1, 1), event.authorized(1, 2)],
  failed: [event.accepted(), event.attempted(1, 1), event.rejected(1, 2)],
  indeterminate: [event.accepted(), event.attempted(1, 1), event.unknown(1, 2), event.interrupted],
};

type Command = (state: InvoiceState) => Decision;

const commands: Record<string, Command> = {
  'send attempt 1': (state) => decideAttempt(state, event.attempted(1, 200)),
  'send attempt 2': (state) => decideAttempt(state, event.attempted(2, 200)),
  'send attempt 3': (state) => decideAttempt(state, event.attempted(3, 200)),
  'not sent': (state) => decideAnswer(state, event.notSent(1, 200)),
  unknown: (state) => decideAnswer(state, event.unknown(1, 200)),
  reject: (state) => decideRejection(state, { attempt: 1 }, { codes: ['E0188'] }, at(200)),
  authorize: (state) => decideAuthorized(state, event.authorizedData(1, 200)),
  'prove absent': (state) => decideAbsence(state, { attempt: 1, firstAbsentAt: at(100), now: at(200) }, event.limits),
  'find a foreign note': (state) =>
    decideNumberConflict(state, event.dataOf(event.conflictFound(1, 200), 'NumberConflictFound')),
  'give up as unfit': (state) => decideUnsendable(state, 'customer_name_missing', at(200)),
};

const OUTCOME = 'the invoice has its outcome';
const UNKNOWN = 'there is no such attempt';
const BUSY = 'another attempt is under way';
const NOT_LAST = 'not the last attempt';
const SETTLED = 'the attempt is settled';
const TRIED = 'an attempt was made';
const SO = 'already so';

/** Rows: what is known. Columns: the command. Cells: the event, or why there is none. */
const columns = [
  'send attempt 1',
  'send attempt 2',
  'send attempt 3',
  'not sent',
  'unknown',
  'reject',
  'authorize',
  'prove absent',
  'find a foreign note',
  'give up as unfit',
];

const SENT = 'IssuanceAttempted';
const NOTE = 'Authorized';
const FOREIGN = 'NumberConflictFound';

const table: Record<string, readonly string[]> = {
  'no invoice': [OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, NOT_LAST, NOT_LAST, SO],
  queued: [SENT, BUSY, BUSY, UNKNOWN, UNKNOWN, UNKNOWN, NOTE, NOT_LAST, NOT_LAST, 'IssuanceFailed'],
  open: [
    BUSY,
    BUSY,
    BUSY,
    'IssuanceNotSent',
    'IssuanceOutcomeUnknown',
    'IssuanceRejected',
    NOTE,
    'IssuanceProvenAbsent',
    FOREIGN,
    TRIED,
  ],
  'not sent': [BUSY, SENT, BUSY, SO, SO, SO, NOTE, SETTLED, FOREIGN, TRIED],
  unknown: [BUSY, BUSY, BUSY, SO, SO, SO, NOTE, 'IssuanceProvenAbsent', FOREIGN, TRIED],
  absent: [BUSY, SENT, BUSY, SO, SO, SO, NOTE, SO, FOREIGN, TRIED],
  foreign: [BUSY, SENT, BUSY, SO, SO, SO, NOTE, SETTLED, SO, TRIED],
  issued: [OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, SO, NOT_LAST, NOT_LAST, SO],
  failed: [OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, NOT_LAST, NOT_LAST, SO],
  indeterminate: [OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, OUTCOME, NOT_LAST, NOT_LAST, SO],
};

const cells = Object.entries(table).flatMap(([known, row]) =>
  row.map((expected, index) => [known, columns[index] ?? '', expected] as const),
);

describe('given what is known of an attempt', () => {
  it.each(cells)('%s, "%s" gives: %s', (known, column, expected) => {
    const command = commands[column];
    if (command === undefined) throw new Error(`no command ${column}`);
    expect(event.decisionText(command(given(...(histories[known] ?? []))))).toBe(expected);
  });

  it('every event and every resolution of an attempt is in the table', () => {
    expect(Object.keys(table)).toEqual(Object.keys(histories));
    expect(columns).toEqual(Object.keys(commands));
    for (const row of Object.values(table)) expect(row).toHaveLength(columns.length);
  });

  it.each(['not sent', 'unknown', 'reject', 'prove absent', 'find a foreign note'])(
    '"%s" of an attempt that is not the last changes nothing',
    (column) => {
      const later = given(event.accepted(), event.attempted(1, 1), event.notSent(1, 2), event.attempted(2, 5));
      expect(event.decisionText(commands[column]?.(later) ?? { refused: 'no command' })).toBe(
        ['not sent', 'unknown', 'reject'].includes(column) ? SO : NOT_LAST,
      );
    },
  );

  it('a deleted test invoice takes no command', () => {
    const deleted = given(event.accepted({ mode: 'test' }), {
      type: 'TestInvoiceDeleted',
      data: { lastHash: 'a'.repeat(64), deletedAt: at(604_800) },
    });
    for (const command of Object.values(commands)) {
      const decision = command(deleted);
      expect('events' in decision ? decision.events : []).toEqual([]);
    }
  });
});

type Answer = { httpStatus: number; texts?: readonly string[] };

describe('what the recorded answer to a send said', () => {
  const toAttempt = (attempt: number, answer: Answer): InvoiceEvent => {
    const { type, data } = event.unknown(attempt, 2);
    return { type, data: { ...data, ...answer } };
  };
  const toRequest = (request: number, attempt: number, answer: Answer): InvoiceEvent => {
    const { type, data } = event.cancelUnknown(attempt, 60, [], request);
    return { type, data: { ...data, ...answer } };
  };
  const events: readonly InvoiceEvent[] = [
    event.accepted(),
    event.attempted(2, 1),
    toAttempt(1, { httpStatus: 400, texts: ['to the first'] }),
    toAttempt(2, { httpStatus: 500 }),
    toRequest(1, 1, { httpStatus: 401, texts: ['to the first of request 1'] }),
    toRequest(1, 2, { httpStatus: 402, texts: ['to the second of request 1'] }),
    toRequest(2, 2, { httpStatus: 403, texts: ['to the second of request 2'] }),
  ];

  it.each([
    ['attempt 1', { attempt: 1 }, { httpStatus: 400, texts: ['to the first'] }],
    ['attempt 2, whose text is missing', { attempt: 2 }, { httpStatus: 500 }],
    ['attempt 2 of request 1', { attempt: 2, request: 1 }, { httpStatus: 402, texts: ['to the second of request 1'] }],
    ['attempt 2 of request 2', { attempt: 2, request: 2 }, { httpStatus: 403, texts: ['to the second of request 2'] }],
    ['an attempt without an answer', { attempt: 3 }, {}],
    ['a request without an answer', { attempt: 1, request: 2 }, {}],
  ])('is found for %s', (_name, key, expected) => {
    expect(saidTo(events, key)).toEqual(expected);
  });
});
