import { describe, expect, it } from 'vitest';
import type { Mode } from '../../../src/domain/common/ids.js';
import { exportBodyOf, issueBodyOf } from '../../support/fixture/demo.js';
import { invoiceIn, type StateName, stateNames } from '../../support/fixture/invoice-states.js';
import { createHarness, type Harness } from '../../support/harness/http.js';

type Body = Record<string, unknown>;

const MODES: readonly Mode[] = ['test', 'live'];

const read = async ({ call }: Harness, id: string, key: Mode): Promise<Body> =>
  (await (await call(`/v1/nfse/${id}`, { key })).json()) as Body;

/** Fields beyond those that every invoice made through the API has. */
const extra: Record<StateName, readonly string[]> = {
  queued: [],
  processing: [],
  issued: ['access_key', 'issued_at', 'cancelable_until', 'links'],
  rejected: ['failed_at', 'error'],
  'not processed': ['failed_at', 'error'],
  indeterminate: ['failed_at', 'error'],
  'pending cancellation': ['access_key', 'issued_at', 'cancellation', 'links'],
  'failed cancellation': ['access_key', 'issued_at', 'cancellation', 'links'],
  canceled: ['access_key', 'issued_at', 'cancellation', 'links'],
};

/** The only differences between the modes: a new cancel may follow a failed one, and a canceled one has no links. */
const expectedExtra = (state: StateName, mode: Mode): string[] => {
  if (mode === 'live') return [...extra[state]].sort();
  if (state === 'failed cancellation') return [...extra[state], 'cancelable_until'].sort();
  return extra[state].filter((field) => !(state === 'canceled' && field === 'links')).sort();
};

const ALWAYS = ['object', 'id', 'livemode', 'status', 'amount_in_cents', 'description', 'competence'];
const LINE = ['service_code', 'cnae', 'failed_attempts', 'created_at'];

const cases = stateNames.flatMap((state) => MODES.map((mode) => ({ state, mode })));

describe.each(cases)('GET /v1/nfse/{id}: $state in $mode mode', ({ state, mode }) => {
  it('has exactly the fields of its state', async () => {
    const harness = createHarness();
    const body = await read(harness, await invoiceIn(harness, state, mode), mode);
    expect(Object.keys(body).sort()).toEqual([...ALWAYS, ...LINE, ...expectedExtra(state, mode)].sort());
  });

  it('adds what was sent, and nothing of the others', async () => {
    for (const [sent, added] of [
      [issueBodyOf({ reference: 'r', customer: { name: 'Ana' } }), ['reference', 'customer']],
      [exportBodyOf(), ['customer', 'foreign_amount']],
    ] as const) {
      const harness = createHarness();
      const body = await read(harness, await invoiceIn(harness, state, mode, sent), mode);
      expect(Object.keys(body).sort()).toEqual([...ALWAYS, ...LINE, ...added, ...expectedExtra(state, mode)].sort());
    }
  });

  it('has no null, in the invoice and in the list', async () => {
    const harness = createHarness();
    const id = await invoiceIn(harness, state, mode, issueBodyOf({ reference: 'r' }));
    const bodies = [
      await read(harness, id, mode),
      await (await harness.call('/v1/nfse?reference=r', { key: mode })).json(),
    ];
    for (const body of bodies) expect(JSON.stringify(body)).not.toMatch(/\bnull\b/);
  });
});

/** The end of the month of an invoice that was issued on 30 November at noon. */
const instants = [
  ['2026-11-30T15:00:00.000Z', true],
  ['2026-12-01T02:59:59.000Z', true],
  ['2026-12-01T02:59:59.999Z', true],
  ['2026-12-01T03:00:00.000Z', false],
  ['2026-12-02T15:00:00.000Z', false],
] as const;

describe.each(cases)('cancelable_until: $state in $mode mode', ({ state, mode }) => {
  it.each(instants)('at %s it is there exactly when a cancel is accepted', async (now, isOpen) => {
    const harness = createHarness();
    harness.state.now = '2026-11-30T15:00:00.000Z';
    const id = await invoiceIn(harness, state, mode);
    harness.state.now = now;
    const { cancelable_until } = await read(harness, id, mode);
    const { status } = await harness.call(`/v1/nfse/${id}/cancel`, { key: mode, json: {} });
    const mayBe = state === 'issued' || (state === 'failed cancellation' && mode === 'test');
    expect(status === 202).toBe(mayBe && isOpen);
    expect(cancelable_until).toBe(status === 202 ? '2026-12-01T02:59:59.000Z' : undefined);
  });
});

describe('links are fresh at every read', () => {
  it('of the invoice, of the list and of a cancel: each second has its own, and all of them open', async () => {
    const harness = createHarness();
    const id = await invoiceIn(harness, 'issued', 'test', issueBodyOf({ reference: 'r' }));
    const seen: string[] = [];
    const keep = (body: unknown): void => {
      const { links } = body as { links: { pdf: string; xml: string } };
      seen.push(links.pdf, links.xml);
    };
    for (let second = 0; second < 3; second += 1) {
      keep(await read(harness, id, 'test'));
      harness.pass(1);
    }
    keep(((await (await harness.call('/v1/nfse?reference=r')).json()) as { data: unknown[] }).data[0]);
    harness.pass(1);
    keep(await (await harness.call(`/v1/nfse/${id}/cancel`, { json: {} })).json());
    expect(new Set(seen).size).toBe(seen.length);
    for (const link of seen)
      expect((await harness.call(link.replace('https://nfse.example', ''), { key: 'none' })).status).toBe(200);
  });
});
