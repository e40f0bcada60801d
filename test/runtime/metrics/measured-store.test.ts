import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { CommandContext } from '../../../src/app/event-store/command-context.js';
import { type Appended, type EventStore, NO_STREAM } from '../../../src/app/event-store/event-store.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { measuredStore } from '../../../src/runtime/metrics/measured-store.js';
import { seriesIn } from '../../../src/runtime/metrics/series.js';
import { readMetrics } from '../../support/metrics-text.js';

const ACCEPTED_AT = '2026-11-21T12:00:00.000Z';
const stream = invoiceStream('live', '12345678000195', '3b241101-e2bb-4255-8caf-4136c566a962');
const context: CommandContext = {
  commandId: 'c',
  correlationId: 'c',
  causationId: 'c',
  actor: 'worker:issuer',
  now: ACCEPTED_AT,
  site: 'accept_invoice',
};

const accepted = { type: 'InvoiceAccepted', data: { acceptedAt: ACCEPTED_AT } } as InvoiceEvent;
const recorded = (type: InvoiceEvent['type'], seconds: number, data: object = {}) =>
  ({ type, data: { at: addSeconds(ACCEPTED_AT, seconds), ...data } }) as InvoiceEvent;

/** A store over an array, that answers as the test says. */
const measured = () => {
  const registry = new Registry();
  const state = {
    stored: [] as InvoiceEvent[],
    answer: async (): Promise<Appended> => ({ ok: true, added: { events: [], version: NO_STREAM } }),
  };
  const bare: EventStore = {
    load: async () => ({ events: state.stored as never, version: NO_STREAM }),
    append: () => state.answer(),
  };
  const store = measuredStore(seriesIn(registry))(bare);
  return {
    state,
    store,
    append: (...events: InvoiceEvent[]) => store.append(stream, NO_STREAM, events, context),
    shown: async () => readMetrics(await registry.metrics()),
  };
};

describe('the measured event store', () => {
  it('counts what was appended, and measures an outcome from the times of its events', async () => {
    const { append, shown } = measured();
    await append(accepted);
    await append(recorded('Authorized', 90));
    const { value } = await shown();
    expect(value('nfse_invoices_accepted_total', { mode: 'live' })).toBe(1);
    expect(value('nfse_invoice_outcomes_total', { mode: 'live', event: 'Authorized' })).toBe(1);
    expect(value('nfse_issue_duration_seconds_sum', { mode: 'live', outcome: 'issued' })).toBe(90);
    expect(value('nfse_event_log_append_duration_seconds_count', { result: 'ok' })).toBe(2);
  });

  it('knows when an invoice was accepted that another process took, because who records an outcome has loaded it', async () => {
    const { state, store, append, shown } = measured();
    state.stored = [accepted];
    await store.load(stream);
    await append(recorded('IssuanceInterrupted', 3_600, { failedAt: ACCEPTED_AT }));
    const { value } = await shown();
    expect(value('nfse_issue_duration_seconds_sum', { outcome: 'indeterminate' })).toBe(3_600);
    expect(value('nfse_invoices_accepted_total', { mode: 'live' })).toBe(0);
  });

  it('counts an outcome whose acceptance it does not know, without a duration', async () => {
    const { append, shown } = measured();
    await append(recorded('NotProcessed', 900));
    const { value } = await shown();
    expect(value('nfse_invoice_outcomes_total', { outcome: 'failed', event: 'NotProcessed' })).toBe(1);
    expect(value('nfse_issue_duration_seconds_count')).toBeUndefined();
  });

  it('counts nothing of an append that lost or that may not have happened', async () => {
    const { state, append, shown } = measured();
    state.answer = async () => ({ ok: false });
    expect(await append(accepted)).toEqual({ ok: false });
    state.answer = () => Promise.reject(new Error('gone'));
    await expect(append(accepted)).rejects.toThrow('gone');
    const { value } = await shown();
    expect(value('nfse_invoices_accepted_total')).toBe(0);
    expect(value('nfse_event_log_append_duration_seconds_count', { result: 'conflict' })).toBe(1);
    expect(value('nfse_event_log_append_duration_seconds_count', { result: 'error' })).toBe(1);
  });

  it('counts a refusal by each code of the catalogue, and any other code as one', async () => {
    const { append, shown } = measured();
    await append(recorded('IssuanceRejected', 1, { codes: ['E0312', 'E0312', 'E1235'] }));
    await append(recorded('IssuanceRejected', 2, { codes: ['what an answer holds', '529.982.247-25', 'E0312'] }));
    const { samples } = await shown();
    const counted = samples.filter(
      ({ name, labels }) => name === 'nfse_invoice_refusals_total' && labels.mode === 'live',
    );
    expect(counted.map(({ labels, value }) => [labels.code, value])).toEqual([
      ['other', 1],
      ['E0312', 2],
      ['E1235', 1],
    ]);
  });

  it.each<[InvoiceEvent, string, Record<string, string>]>([
    [recorded('IssuanceAttempted', 1), 'nfse_attempts_total', { work: 'issue' }],
    [recorded('IssuanceNotSent', 1), 'nfse_attempts_not_sent_total', { work: 'issue' }],
    [recorded('IssuanceOutcomeUnknown', 1), 'nfse_unknown_outcomes_total', { work: 'issue' }],
    [recorded('IssuanceProvenAbsent', 1), 'nfse_proven_absences_total', { work: 'issue' }],
    [recorded('NumberConflictFound', 1), 'nfse_number_conflicts_total', {}],
    [
      recorded('IssuanceRejected', 1, { codes: [] }),
      'nfse_invoice_outcomes_total',
      { outcome: 'failed', event: 'IssuanceRejected' },
    ],
    [recorded('IssuanceFailed', 1), 'nfse_invoice_outcomes_total', { outcome: 'failed', event: 'IssuanceFailed' }],
    [
      recorded('IssuanceFailed', 1, { reason: 'customer_name_missing' }),
      'nfse_invoice_outcomes_total',
      { event: 'IssuanceFailed', reason: 'customer_name_missing' },
    ],
    [recorded('CancellationRequested', 1), 'nfse_cancellations_requested_total', {}],
    [recorded('CancellationAttempted', 1), 'nfse_attempts_total', { work: 'cancel' }],
    [recorded('CancellationNotSent', 1), 'nfse_attempts_not_sent_total', { work: 'cancel' }],
    [recorded('CancellationOutcomeUnknown', 1), 'nfse_unknown_outcomes_total', { work: 'cancel' }],
    [recorded('CancellationProvenAbsent', 1), 'nfse_proven_absences_total', { work: 'cancel' }],
    [recorded('IndeterminateResolved', 1, { as: 'failed' }), 'nfse_settlements_total', { as: 'failed' }],
    [recorded('CancellationSettledBySupport', 1), 'nfse_settlements_total', { as: 'canceled' }],
    [recorded('CancellationClosedBySupport', 1), 'nfse_settlements_total', { as: 'valid' }],
    [recorded('CancellationConfirmed', 1), 'nfse_cancellation_outcomes_total', { outcome: 'succeeded' }],
    [
      recorded('CancellationNotConfirmed', 1, { reason: 'refused' }),
      'nfse_cancellation_outcomes_total',
      { outcome: 'refused' },
    ],
    [
      recorded('CancellationNotConfirmed', 1, { reason: 'timeout' }),
      'nfse_cancellation_outcomes_total',
      { outcome: 'timeout' },
    ],
  ])('$type counts in %s', async (event, name, labels) => {
    const { append, shown } = measured();
    const before = (await shown()).value(name, { mode: 'live', ...labels });
    await append(event);
    const { value } = await shown();
    expect([before, value(name, { mode: 'live', ...labels }), value(name)]).toEqual([0, 1, 1]);
  });
});
