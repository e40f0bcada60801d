import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../../src/app/event-store/event-store.js';
import { timelineEntries } from '../../../../src/app/operator/support/invoice-case.js';
import type { InvoiceEvent } from '../../../../src/domain/invoice/events.js';
import type { LogPosition, RecordedEvent } from '../../../../src/ports/event-log.js';
import { accepted, at, attempted, conflictFound, T0 } from '../../../support/fixture/invoice.js';
import { appendTo, fixedKeys } from '../../../support/harness/event-store.js';
import { memoryEventLog } from '../../../support/memory/event-log.js';

const folder = fileURLToPath(new URL('../../../golden/events/', import.meta.url));

/** All golden events of invoice streams, by the names of their files without `.json`. */
const goldenInvoiceEvents = new Map(
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const { event } = JSON.parse(readFileSync(`${folder}${name}`, 'utf8')) as { event: RecordedEvent };
      return [name.replace('.json', ''), { ...event, position: 1n as LogPosition }] as const;
    })
    .filter(([, { stream }]) => stream.startsWith('nfse')),
);

const KEY = '33045572212345678000195000000000014826082012345670';
const DPS = 'DPS330455721234567800019500001000000000000007';
const AT = '2026-11-21T12:00:00.000Z';
const LATER = '2026-11-21T12:00:35.000Z';

/** What support reads beside each event. */
const evidence: Readonly<Record<string, string>> = {
  'Authorized.v1': `access key ${KEY}, by lookup`,
  'Authorized.v1.lost': `access key ${KEY}, by response`,
  'Authorized.v1.without-xml': `access key ${KEY}, by lookup`,
  'CancellationAttempted.v1': `attempt 1, PRE${KEY}101101`,
  'CancellationAttempted.v2': `attempt 1, PRE${KEY}101101`,
  'CancellationClosedBySupport.v1': 'the note stays valid',
  'CancellationConfirmed.v1': `canceled ${AT}, by response`,
  'CancellationConfirmed.v1.without-xml': `canceled ${AT}, by lookup`,
  'CancellationNotConfirmed.v1.invalid': 'document_invalid',
  'CancellationNotConfirmed.v1': 'refused E0120 E0004',
  'CancellationNotConfirmed.v1.proven': `refused E0120 E0004 absent ${AT} and ${LATER}`,
  'CancellationNotSent.v1': 'attempt 1: ECONNREFUSED',
  'CancellationOutcomeUnknown.v1': 'attempt 1: timeout E0120 E0004',
  'CancellationOutcomeUnknown.v1.named': 'attempt 1: already_there E0120 E0004, which names event 305101',
  'CancellationOutcomeUnknown.v1.refused': 'attempt 1: uncatalogued_refusal E0120 E0004',
  'CancellationProvenAbsent.v1': `asked ${AT} and ${LATER}`,
  'CancellationRequested.v1': 'reason other',
  'CancellationSettledBySupport.v1': `canceled ${AT}`,
  'IndeterminateResolved.v1': `settled as issued, access key ${KEY}`,
  'IndeterminateResolved.v1.failed': 'settled as failed',
  'IndeterminateResolved.v1.other-sales': `settled as failed, ${DPS} holds ${KEY} of another sale, by its amount or customer, ${DPS} holds ${KEY} of another sale, as the operator declared, and the look-up did not show the note`,
  'IndeterminateResolved.v1.attempt-lost': `settled as issued, access key ${KEY}`,
  'InvoiceAccepted.v1': '150000 cents, line 6201501/010101',
  'InvoiceAccepted.v1.declared': '150000 cents, line 6201501/010101',
  'InvoiceAccepted.v2': '150000 cents, line 6201501/010101',
  'InvoiceAccepted.v2.ibs-cbs': '150000 cents, line 6201501/010101',
  'InvoiceAccepted.v2.taxes': '150000 cents, line 6201501/010101',
  'InvoiceImported.v1': 'from legacy, replaced',
  'InvoiceImported.v1.key': 'from legacy, issued',
  'IssuanceAttempted.v1': `attempt 1, ${DPS}`,
  'IssuanceAttempted.v2': `attempt 1, ${DPS}`,
  'IssuanceFailed.v1': 'customer_name_missing',
  'IssuanceFailed.v1.invalid': 'document_invalid',
  'IssuanceInterrupted.v1': `time was over at ${AT}`,
  'IssuanceNotSent.v1': 'attempt 1: ECONNREFUSED E1203',
  'IssuanceOutcomeUnknown.v1': 'attempt 1: timeout E0120 E0004',
  'IssuanceOutcomeUnknown.v1.refused': 'attempt 1: uncatalogued_refusal E0120 E0004',
  'IssuanceProvenAbsent.v1': `asked ${AT} and ${LATER}`,
  'IssuanceRejected.v1': 'E0120 E0004',
  'IssuanceRejected.v1.proven': `E0120 E0004 absent ${AT} and ${LATER}`,
  'NotProcessed.v1': `time was over at ${AT}`,
  'NoteCanceledElsewhere.v1': `event 105102 of another party, ${AT}, replaced by ${KEY}`,
  'NumberConflictFound.v1': `${DPS} holds ${KEY}`,
  'NumberConflictFound.v2': `${DPS} holds ${KEY}`,
  'ReconciliationDifferenceFound.v1': 'unknown_note',
  'ReferenceTaken.v1': 'by nfse_11111111-1111-4111-8111-111111111111',
  'TestInvoiceDeleted.v1': `chain ended at ${'ab'.repeat(32)}`,
};

const entryOf = (recorded: RecordedEvent) => timelineEntries([recorded])[0];

describe('the timeline of an invoice', () => {
  it.each(Object.entries(evidence))('says of %s: %s', (name, text) => {
    const recorded = goldenInvoiceEvents.get(name);
    expect(recorded === undefined ? undefined : entryOf(recorded)).toEqual({
      at: AT,
      event: name.split('.')[0],
      who: 'support:golden',
      request_id: 'req_golden',
      evidence: text,
    });
  });

  it('is tested with every golden event, and shows nothing that is sealed', () => {
    expect([...goldenInvoiceEvents.keys()].toSorted()).toEqual(Object.keys(evidence).toSorted());
    for (const recorded of goldenInvoiceEvents.values()) expect(entryOf(recorded)?.evidence).not.toContain('sealed:');
  });

  it('says of an invoice that a note with the same content ended that no time was over', async () => {
    const conflict = conflictFound(1, 7, true);
    const end = (failedAt: string): InvoiceEvent => ({
      type: 'IssuanceInterrupted',
      data: { failedAt, at: at(3_700) },
    });
    const evidenceOf = async (...events: readonly InvoiceEvent[]) => {
      const log = memoryEventLog();
      await appendTo(createEventStore(log, fixedKeys()), 'nfseLive-1_1', [accepted(), attempted(1, 1), ...events], T0);
      return timelineEntries(await log.read('nfseLive-1_1')).at(-1)?.evidence;
    };
    expect(await evidenceOf(conflict, end(at(7)))).toBe(
      `the note under its number has the same content, found at ${at(7)}`,
    );
    expect(await evidenceOf(conflict, end(at(3_607)))).toBe(`time was over at ${at(3_607)}`);
    expect(await evidenceOf(conflictFound(1, 7), end(at(7)))).toBe(`time was over at ${at(7)}`);
  });

  it('keeps the order of the events, and takes an event without metadata', () => {
    const [first, second] = [...goldenInvoiceEvents.values()];
    if (first === undefined || second === undefined) throw new Error('no golden events');
    const bare: RecordedEvent = { ...second, metadata: { schemaVersion: '1' } };
    expect(timelineEntries([first, bare])).toMatchObject([
      { event: first.type, at: AT },
      { event: second.type, at: '', who: '', request_id: '' },
    ]);
  });
});
