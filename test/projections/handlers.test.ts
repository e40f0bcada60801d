import { describe, expect, it } from 'vitest';
import { handlers as creds } from '../../projections/credentials.js';
import { type DeadlineRow, deadlines } from '../../projections/deadlines.js';
import { invoices } from '../../projections/invoices.js';
import { allProjections } from '../../projections/registry.js';
import type { Projection, Row } from '../../projections/types.js';
import { eventTypeDefinitions } from '../../src/app/event-store/event-types.js';
import { auditEventTypes } from '../../src/domain/audit/events.js';
import type { Mode } from '../../src/domain/common/ids.js';
import { dpsNumberEventTypes } from '../../src/domain/dps-number/events.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import {
  accepted,
  at,
  attempted,
  authorized,
  COMPANY,
  cancelAttempted,
  cancelEnded,
  cancelRequested,
  deleted,
  notSent,
  streamOf,
  unknown,
} from '../support/fixture/histories.js';

type Registry = { projections: readonly Projection[]; ignored: readonly string[] };

/** None of the ignored types needs a read model: allocation reads the last event of its stream, and auditors read the log itself. */
const registry: Registry = {
  projections: allProjections,
  ignored: [...dpsNumberEventTypes, ...auditEventTypes],
};

/** Whether projections have distinct names and a handler for each event type of their streams, and whether an event type is left out. */
const registryFaults = (
  { projections, ignored }: Registry,
  eventTypes: Iterable<string> = eventTypeDefinitions.keys(),
): readonly string[] => {
  const faults = [
    ...repeated(projections.map(({ name }) => name)).map((name) => `two projections are named ${name}`),
    ...projections.flatMap(faultsOf),
  ];
  const read = new Set(projections.flatMap((projection) => projection.eventTypes));
  for (const type of eventTypes) {
    if (!read.has(type) && !ignored.includes(type)) faults.push(`no projection reads ${type} and none ignores it`);
    if (read.has(type) && ignored.includes(type)) faults.push(`${type} is read by a projection and ignored by all`);
  }
  return faults;
};

const faultsOf = ({ name, eventTypes, handlers, columns, keyColumn, indexes }: Projection): string[] => [
  ...eventTypes.filter((type) => !Object.hasOwn(handlers, type)).map((type) => `${name} has no handler for ${type}`),
  ...Object.keys(handlers)
    .filter((type) => !eventTypes.includes(type))
    .map((type) => `${name} handles ${type}, which is not of its streams`),
  ...repeated(eventTypes).map((type) => `${name} names ${type} twice`),
  ...[keyColumn, 'revision', ...indexes.flatMap((index) => index.columns)]
    .filter((column) => !Object.hasOwn(columns, column))
    .map((column) => `${name} has no column ${column}`),
];

const repeated = (names: readonly string[]): string[] => names.filter((name, index) => names.indexOf(name) !== index);

const fold = (projection: Projection, mode: Mode, events: readonly InvoiceEvent[], row?: Row): Row | undefined =>
  events.reduce<Row | undefined>((before, event, revision) => {
    const handler = projection.handlers[event.type];
    if (handler === undefined || handler === 'ignored') return before;
    const next = handler(before, { ...event, stream: streamOf(mode, 1), revision });
    return next === 'delete' ? undefined : next;
  }, row);

describe('deadlines', () => {
  const owed = (mode: Mode, ...events: InvoiceEvent[]) => fold(deadlines, mode, events) as DeadlineRow | undefined;

  it('owes an outcome from the acceptance on', () => {
    expect(owed('live', accepted('live', 1))).toEqual({
      stream: streamOf('live', 1),
      revision: 0,
      mode: 'live',
      company_id: COMPANY,
      work: 'issue',
      work_since: at(0),
      started: false,
      began_at: at(0),
      retention_since: null,
    });
  });

  it('counts from the first attempt, and notes the last event', () => {
    const events = [accepted('live', 1), attempted(1, 5), notSent(1, 6), attempted(2, 7), unknown(2, 9)];
    expect(owed('live', ...events)).toMatchObject({ started: true, began_at: at(5), work_since: at(9), revision: 4 });
  });

  it('owes nothing once a live invoice is settled, and a cancellation from its request on', () => {
    const issued = [accepted('live', 1), attempted(1, 5), authorized(1, 6)];
    expect(owed('live', ...issued)).toBeUndefined();
    expect(owed('live', ...issued, cancelRequested(50))).toMatchObject({
      work: 'cancel',
      work_since: at(50),
      began_at: at(50),
      started: false,
    });
    expect(owed('live', ...issued, cancelRequested(50), cancelAttempted(1, 51))).toMatchObject({
      work_since: at(51),
      began_at: at(50),
      started: true,
    });
    expect(owed('live', ...issued, cancelRequested(50), cancelEnded(60))).toBeUndefined();
  });

  it('owes the end of a test invoice until it is deleted', () => {
    const issued = [accepted('test', 1), attempted(1, 5), authorized(1, 6)];
    expect(owed('test', ...issued)).toMatchObject({ work: null, work_since: null, retention_since: at(0) });
    expect(owed('test', ...issued, deleted)).toBeUndefined();
  });

  it('takes a late word on settled work as nothing', () => {
    const issued = [accepted('live', 1), attempted(1, 5), authorized(1, 6)];
    expect(owed('live', ...issued, unknown(1, 7))).toBeUndefined();
    expect(owed('test', accepted('test', 1), attempted(1, 5), authorized(1, 6), unknown(1, 7))).toMatchObject({
      work: null,
    });
  });
});

const canceled = (seconds: number): InvoiceEvent => ({
  type: 'CancellationConfirmed',
  data: {
    request: 1,
    eventXmlGzip: 'x',
    eventSha256: 's',
    canceledAt: at(seconds),
    evidence: 'response',
    at: at(seconds),
  },
});

describe('invoices', () => {
  it('shows keys and DPS beside the folded state', () => {
    const row = fold(invoices, 'live', [accepted('live', 1), attempted(1, 5), authorized(1, 6)]);
    expect(row).toMatchObject({
      revision: 2,
      dps_id: 'DPS1',
      access_key: '1'.repeat(50),
      reference: 'pedido-1',
      created_at: at(0),
    });
  });

  it.each<[string, InvoiceEvent[], object]>([
    ['queued', [], { outcome_at: null, access_key: null, cancellation_status: null }],
    ['processing', [attempted(1, 5)], { outcome_at: null, dps_id: 'DPS1' }],
    ['issued', [attempted(1, 5), authorized(1, 6)], { outcome_at: at(6), canceled_at: null }],
    ['issued', [attempted(1, 5), authorized(1, 6), cancelRequested(9)], { cancellation_status: 'pending' }],
    [
      'canceled',
      [attempted(1, 5), authorized(1, 6), cancelRequested(9), canceled(12)],
      {
        outcome_at: at(6),
        cancellation_status: 'succeeded',
        canceled_at: at(12),
      },
    ],
    ['failed', [{ type: 'IssuanceFailed', data: { failedAt: at(900), at: at(901) } }], { outcome_at: at(900) }],
    [
      'indeterminate',
      [attempted(1, 5), { type: 'IssuanceInterrupted', data: { failedAt: at(7), at: at(8) } }],
      {
        outcome_at: at(7),
      },
    ],
  ])('shows a %s invoice in columns', (status, events, columns) => {
    expect(fold(invoices, 'live', [accepted('live', 1), ...events])).toMatchObject({
      status,
      mode: 'live',
      company_id: COMPANY,
      origin: 'api',
      amount_in_cents: 12_345,
      competence: '2026-11-21',
      service_code: '010101',
      ...columns,
    });
  });

  it('shows an imported invoice with what was imported of it', () => {
    const data = {
      mode: 'live',
      companyId: COMPANY,
      invoiceId: 'x',
      origin: 'web',
      state: 'canceled',
      amountInCents: 5,
    };
    const imported = { type: 'InvoiceImported', data: { ...data, importedAt: at(3) } } as InvoiceEvent;
    expect(fold(invoices, 'live', [imported])).toMatchObject({
      status: 'canceled',
      origin: 'web',
      amount_in_cents: 5,
      competence: null,
      service_code: null,
      outcome_at: null,
      canceled_at: null,
      created_at: null,
    });
  });

  it('gives a deleted test invoice the same row from its whole stream and from its last event', () => {
    const whole = [accepted('test', 1), attempted(1, 5), deleted];
    const [last] = whole.slice(-1);
    const handler = invoices.handlers.TestInvoiceDeleted;
    if (last === undefined || handler === undefined || handler === 'ignored') throw new Error('no such handler');
    expect(handler(undefined, { ...last, stream: streamOf('test', 1), revision: 2 })).toEqual(
      fold(invoices, 'test', whole),
    );
  });

  it('refuses an event before the acceptance', () => {
    expect(() => fold(invoices, 'live', [attempted(1, 5)])).toThrow(/without an invoice/);
  });
});

it('credentials keep what a key is when it is revoked', () => {
  const row = {
    key_id: 'k',
    revision: 1,
    key_hash: 'h',
    company_id: COMPANY,
    mode: 'test' as const,
    scopes: '[]',
    revoked: false,
  };
  const event = { type: 'ApiKeyRevoked' as const, data: { keyId: 'k', at: at(0) }, stream: 's', revision: 7 };
  expect(creds.ApiKeyRevoked(row, event)).toEqual({ ...row, revision: 7, revoked: true });
});

describe('the registry', () => {
  const without = (type: string): Projection => {
    const { [type]: _gone, ...handlers } = invoices.handlers;
    return { ...invoices, handlers };
  };

  it('is complete', () => {
    expect(registryFaults(registry)).toEqual([]);
  });

  it.each<[string, Parameters<typeof registryFaults>, RegExp]>([
    [
      'a missing handler',
      [{ ...registry, projections: [without('Authorized')] }],
      /invoices has no handler for Authorized/,
    ],
    [
      'a handler of another aggregate',
      [{ ...registry, projections: [{ ...invoices, eventTypes: ['Authorized'] }] }],
      /not of its streams/,
    ],
    [
      'a type named twice',
      [{ ...registry, projections: [{ ...invoices, eventTypes: [...invoices.eventTypes, 'Authorized'] }] }],
      /names Authorized twice/,
    ],
    [
      'two projections of one name',
      [{ ...registry, projections: [...registry.projections, invoices] }],
      /two projections are named invoices/,
    ],
    ['a forgotten type', [registry, ['NewsOfTomorrow']], /no projection reads NewsOfTomorrow/],
    [
      'a type both read and ignored',
      [{ ...registry, ignored: [...registry.ignored, 'Authorized'] }],
      /Authorized is read .* and ignored/,
    ],
    [
      'an index on nothing',
      [{ ...registry, projections: [{ ...invoices, indexes: [{ columns: ['nothing'] }] }] }],
      /no column nothing/,
    ],
  ])('is not complete with %s', (_case, args, message) => {
    expect(registryFaults(...args).join('; ')).toMatch(message);
  });
});
