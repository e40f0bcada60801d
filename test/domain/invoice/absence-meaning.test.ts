import { describe, expect, it } from 'vitest';
import { whatAbsenceShows as ofCancellation } from '../../../src/domain/invoice/decide-cancellation.js';
import { whatAbsenceShows as ofNote } from '../../../src/domain/invoice/decide-issuance.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import * as event from '../../support/fixture/invoice.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';

const { accepted, attempted, cancelAttempted, cancelRequested, cancelUnknown, unknown } = event;

const uncatalogued = <E extends InvoiceEvent>(answer: E): E => ({ ...answer, data: { ...answer.data, refused: true } });

const note = (...history: readonly InvoiceEvent[]): string => {
  const invoice = event.givenInvoice(accepted(), ...history);
  const send = invoice.attempts.at(-1);
  return send === undefined ? 'no send' : ofNote(invoice, send);
};

const cancellation = (...history: readonly InvoiceEvent[]): string => {
  const sends =
    event.givenInvoice(accepted(), attempted(1, 1), event.authorized(1, 2), cancelRequested(100), ...history)
      .cancellation?.sends ?? [];
  const send = sends.at(-1);
  return send === undefined ? 'no send' : ofCancellation(sends, send);
};

const named = (): InvoiceEvent => {
  const answer = cancelUnknown(1, 120, ['E0840']);
  return { ...answer, data: { ...answer.data, namedEvent: '305101' } } as InvoiceEvent;
};

describe('what an absence can settle', () => {
  it.each([
    ['of a note whose answer is unknown', 'two prove it', () => note(attempted(1, 1), unknown(1, 2))],
    ['of a note that is said to exist', 'proves nothing', () => note(attempted(1, 1), unknown(1, 2, ['E0014']))],
    [
      'of a note that was refused',
      'two prove it',
      () => note(attempted(1, 1), uncatalogued(unknown(1, 2, [UNCATALOGUED_CODE]))),
    ],
    [
      'of a note that was refused after a send that may have arrived',
      'proves nothing',
      () => note(attempted(1, 1), unknown(1, 2), attempted(2, 50), uncatalogued(unknown(2, 51, [UNCATALOGUED_CODE]))),
    ],
    [
      'of an event whose answer is unknown',
      'two prove it',
      () => cancellation(cancelAttempted(1, 110), cancelUnknown(1, 120)),
    ],
    [
      'of an event on a note that has one',
      'one may settle it',
      () => cancellation(cancelAttempted(1, 110), cancelUnknown(1, 120, ['E0840'])),
    ],
    [
      'of an event on a note that is named as canceled',
      'proves nothing',
      () => cancellation(cancelAttempted(1, 110), named()),
    ],
    [
      'of an event that was refused after a send that may have arrived',
      'proves nothing',
      () =>
        cancellation(
          cancelAttempted(1, 110),
          cancelUnknown(1, 120),
          cancelAttempted(2, 200),
          uncatalogued(cancelUnknown(2, 210, [UNCATALOGUED_CODE])),
        ),
    ],
  ])('%s: %s', (_whose, expected, shows) => {
    expect(shows()).toBe(expected);
  });
});
