import { describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { isOfLostAttempt } from '../../../src/domain/invoice/note-met.js';
import {
  differenceOf,
  isInRound,
  isReconcilable,
  type LookupFinding,
  reconciliationLookups,
} from '../../../src/domain/invoice/reconciliation.js';
import type { FoundDocument } from '../../../src/domain/invoice/sent-document.js';
import {
  ACCESS_KEY,
  accepted,
  at,
  attempted,
  authorized,
  authorizedData,
  cancelAttempted,
  cancelConfirmed,
  cancelNotConfirmed,
  cancelRequested,
  conflictFound,
  DPS_ID,
  given,
  givenInvoice,
  imported,
  interrupted,
  notSent,
  rejected,
  unknown,
} from '../../support/fixture/invoice.js';

const OTHER_KEY = '4'.repeat(50);
const SECOND_ID = 'DPS330455721234567800019500001000000000000008';
const WEEK = 604_800;

const issued = [accepted(), attempted(1, 1), authorized(1, 2)];
const failed = [accepted(), attempted(1, 1), rejected(1, 2)];
const neverLeft: InvoiceEvent[] = [
  accepted(),
  attempted(1, 1),
  notSent(1, 2),
  { type: 'IssuanceFailed', data: { failedAt: at(3601), at: at(3601) } },
];
const nobodyKnows = [accepted(), attempted(1, 1), unknown(1, 2), interrupted];
const canceled = [...issued, cancelRequested(3), cancelAttempted(1, 4), cancelConfirmed(5)];
const cancelFailed = [...issued, cancelRequested(3), cancelAttempted(1, 4), cancelNotConfirmed(3700)];
/** The first number was used by another party; the note came under the second number. */
const renumbered: InvoiceEvent[] = [
  accepted(),
  attempted(1, 1),
  conflictFound(1, 40),
  { ...attempted(2, 41), data: { ...attempted(2, 41).data, dpsId: SECOND_ID, digest: 'second' } } as InvoiceEvent,
  authorized(2, 42),
];

const { attempt: _attempt, evidence: _evidence, at: _at, ...settlement } = authorizedData(1, 80);

/** Recovery gave a note back that was sent under another number, by an attempt that the log has lost. */
const adopted: InvoiceEvent[] = [
  accepted(),
  attempted(1, 1),
  { type: 'Authorized', data: { ...authorizedData(2, 500), evidence: 'lookup', attemptLost: true } },
];
/** Support found the note of the last attempt, which no event marks. */
const settledIssued: InvoiceEvent[] = [
  ...nobodyKnows,
  { type: 'IndeterminateResolved', data: { ...settlement, as: 'issued', evidence: 'portal', at: at(90_000) } },
];

/** Support gave it the note that it had met under its number, after an attempt there that never left. */
const settledMet: InvoiceEvent[] = [
  accepted(),
  attempted(1, 1),
  notSent(1, 2),
  attempted(2, 3),
  {
    ...conflictFound(2, 40, true),
    data: { ...conflictFound(2, 40, true).data, accessKey: ACCESS_KEY },
  } as InvoiceEvent,
  interrupted,
  { type: 'IndeterminateResolved', data: { ...settlement, as: 'issued', evidence: 'portal', at: at(90_000) } },
];

const note = (held: ({ accessKey: string } & FoundDocument) | 'absent', dpsId = DPS_ID): LookupFinding => ({
  about: 'note',
  dpsId,
  held,
});
const event = (held: 'absent' | 'event'): LookupFinding => ({ about: 'cancellation', accessKey: ACCESS_KEY, held });
const ours = note({ accessKey: ACCESS_KEY, digest: 'digest' });
const foreign = note({ accessKey: OTHER_KEY, digest: 'foreign' });
const contradictory = { accessKey: OTHER_KEY, digest: '', contradiction: { claimed: '', computed: 'x' } };
const unsigned = { accessKey: OTHER_KEY, digest: 'foreign', signatureFault: 'missing' };

describe('what the authorizer holds, beside an outcome of ours', () => {
  it.each([
    ['issued, and the note is there', issued, ours, undefined],
    ['issued, and there is no note', issued, note('absent'), { kind: 'issued_but_absent', accessKey: ACCESS_KEY }],
    [
      'issued, and the note has another key',
      issued,
      note({ accessKey: OTHER_KEY, digest: 'digest' }),
      { kind: 'access_key_differs', accessKey: OTHER_KEY },
    ],
    [
      'issued, and the note embeds another document',
      issued,
      note({ accessKey: ACCESS_KEY, digest: 'another' }),
      { kind: 'digest_differs', accessKey: ACCESS_KEY },
    ],
    ['failed, and there is no note', failed, note('absent'), undefined],
    ['failed, and our note is there', failed, ours, { kind: 'failed_but_found', accessKey: ACCESS_KEY }],
    ['never sent, and our note is there', neverLeft, ours, { kind: 'failed_but_found', accessKey: ACCESS_KEY }],
    ['failed, and a note of others is there', failed, foreign, { kind: 'foreign_note', accessKey: OTHER_KEY }],
    ['indeterminate, and there is no note', nobodyKnows, note('absent'), undefined],
    [
      'indeterminate, and our note is there',
      nobodyKnows,
      ours,
      { kind: 'indeterminate_but_found', accessKey: ACCESS_KEY },
    ],
    [
      'indeterminate, and a note of others is there',
      nobodyKnows,
      foreign,
      { kind: 'foreign_note', accessKey: OTHER_KEY },
    ],
    ['failed, and a document there contradicts itself', failed, note(contradictory), undefined],
    ['indeterminate, and a document there contradicts itself', nobodyKnows, note(contradictory), undefined],
    ['indeterminate, and a note of others there is not signed', nobodyKnows, note(unsigned), undefined],
    ['issued, and a document there contradicts itself', issued, note(contradictory), undefined],
    ['issued under a second number, and an unsigned document under the first', renumbered, note(unsigned), undefined],
    [
      'failed, and our note is there under a signature that nobody can verify',
      failed,
      note({ accessKey: ACCESS_KEY, digest: 'digest', signatureFault: 'algorithm' }),
      { kind: 'failed_but_found', accessKey: ACCESS_KEY },
    ],
    ['issued and not canceled, on both sides', issued, event('absent'), undefined],
    [
      'not canceled here, canceled there',
      issued,
      event('event'),
      { kind: 'canceled_there_only', accessKey: ACCESS_KEY },
    ],
    [
      'a cancellation that failed here, canceled there',
      cancelFailed,
      event('event'),
      { kind: 'canceled_there_only', accessKey: ACCESS_KEY },
    ],
    ['a cancellation that failed here, not canceled there', cancelFailed, event('absent'), undefined],
    ['canceled on both sides', canceled, event('event'), undefined],
    ['canceled here only', canceled, event('absent'), { kind: 'canceled_here_only', accessKey: ACCESS_KEY }],
    [
      'issued, and a note under another DPS id',
      issued,
      note({ accessKey: OTHER_KEY, digest: 'x' }, SECOND_ID),
      undefined,
    ],
    [
      'issued under a second number, whose note is there',
      renumbered,
      note({ accessKey: ACCESS_KEY, digest: 'second' }, SECOND_ID),
      undefined,
    ],
    [
      'issued under a second number, and a note under the first',
      renumbered,
      foreign,
      { kind: 'second_note', accessKey: OTHER_KEY },
    ],
    ['issued by a lost attempt, and no note under the number of an earlier one', adopted, note('absent'), undefined],
    [
      'issued by a lost attempt, whose number an earlier one that came to nothing got too',
      adopted,
      note({ accessKey: ACCESS_KEY, digest: 'foreign' }),
      undefined,
    ],
    [
      'issued by a lost attempt, and a note of others under the number of an earlier one',
      adopted,
      foreign,
      { kind: 'foreign_note', accessKey: OTHER_KEY },
    ],
    [
      'issued by a lost attempt, and a second note of ours under the number of an earlier one',
      adopted,
      note({ accessKey: OTHER_KEY, digest: 'digest' }),
      { kind: 'second_note', accessKey: OTHER_KEY },
    ],
    [
      'settled as issued, and there is no note',
      settledIssued,
      note('absent'),
      { kind: 'issued_but_absent', accessKey: ACCESS_KEY },
    ],
    [
      'settled with the note that it met under its number',
      settledMet,
      note({ accessKey: ACCESS_KEY, digest: 'foreign' }),
      undefined,
    ],
  ] as const)('%s', (_what, events, held, expected) => {
    expect(differenceOf(givenInvoice(...events), held, isOfLostAttempt(events))).toEqual(expected);
  });
});

describe('what is asked of an invoice', () => {
  it('is each DPS id once, sent or not, and for an issued one its cancellation', () => {
    expect(reconciliationLookups(givenInvoice(...neverLeft))).toEqual([{ about: 'note', dpsId: DPS_ID }]);
    const resent = [accepted(), attempted(1, 1), notSent(1, 2), attempted(2, 3), authorized(2, 4)];
    expect(reconciliationLookups(givenInvoice(...resent))).toEqual([
      { about: 'note', dpsId: DPS_ID },
      { about: 'cancellation', accessKey: ACCESS_KEY },
    ]);
  });

  it('is nothing about an id that is known to be somebody else’s', () => {
    expect(reconciliationLookups(givenInvoice(...renumbered))).toEqual([
      { about: 'note', dpsId: SECOND_ID },
      { about: 'cancellation', accessKey: ACCESS_KEY },
    ]);
  });

  it('is nothing where nothing was ever signed', () => {
    const state = givenInvoice(accepted(), { type: 'NotProcessed', data: { failedAt: at(900), at: at(900) } });
    expect(reconciliationLookups(state)).toEqual([]);
  });
});

describe('an invoice that may be compared', () => {
  const asked = (events: readonly InvoiceEvent[], now = at(90)) => isReconcilable(given(...events), WEEK, now);

  it('is settled, ours and, in test mode, alive', () => {
    const test = [accepted({ mode: 'test' }), attempted(1, 1), authorized(1, 2)];
    expect([issued, failed, nobodyKnows, canceled].map((events) => asked(events))).toEqual([true, true, true, true]);
    expect([asked(test), asked(test, at(WEEK - 1)), asked(test, at(WEEK))]).toEqual([true, true, false]);
  });

  it('may be imported, and is then asked only for an event of its note', () => {
    expect(asked([imported()])).toBe(true);
    expect(reconciliationLookups(givenInvoice(imported()))).toEqual([{ about: 'cancellation', accessKey: ACCESS_KEY }]);
    const test = imported({ mode: 'test', importedAt: at(0) });
    expect([asked([test], at(WEEK - 1)), asked([test], at(WEEK))]).toEqual([true, false]);
  });

  it.each([
    ['open', [accepted(), attempted(1, 1)]],
    ['being canceled', [...issued, cancelRequested(3)]],
    ['imported as canceled', [imported({ state: 'canceled' })]],
    ['imported as replaced', [imported({ state: 'replaced' })]],
    ['gone', [accepted({ mode: 'test' }), { type: 'TestInvoiceDeleted', data: { lastHash: '', deletedAt: at(9) } }]],
    ['nothing', []],
  ] as const)('is not one that is %s', (_what, events) => {
    expect(asked(events)).toBe(false);
  });
});

describe('the sample of a round', () => {
  const streams = Array.from({ length: 1_000 }, (_, index) => `nfseLive-12345678000195_${index}`);
  const sample = (round: number, percent: number) => streams.filter((one) => isInRound(true, one, round, percent));

  it('is about so many of a hundred, the same again after a restart, and others in the next round', () => {
    expect(sample(1, 10).length).toBeGreaterThan(60);
    expect(sample(1, 10).length).toBeLessThan(140);
    expect(sample(1, 10)).toEqual(sample(1, 10));
    expect(sample(2, 10)).not.toEqual(sample(1, 10));
    expect([sample(1, 0).length, sample(1, 100).length]).toEqual([0, 1_000]);
  });

  it('is of issued invoices; a round looks at all others', () => {
    expect(streams.every((one) => isInRound(false, one, 1, 1))).toBe(true);
  });
});
