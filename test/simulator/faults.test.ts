import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { UNCATALOGUED_CODE } from '../support/fixture/uncatalogued-code.js';
import {
  type Answered,
  COMPANY,
  cancel,
  codesOf,
  dpsIdOf,
  issue,
  issueBody,
  keyOf,
  ledger,
  OTHER_COMPANY,
  openSimulatorHarness,
  type SimulatorHarness,
} from '../support/harness/simulator.js';

let harness: SimulatorHarness;
let next = 0;
let slowAnswer: Promise<Answered | string> | undefined;
beforeAll(async () => {
  harness = await openSimulatorHarness();
});
afterAll(async () => {
  await harness.close();
  await slowAnswer;
});
beforeEach(async () => {
  next += 1;
  await harness.control('DELETE', 'faults');
});

const order = async (fault: object) => expect((await harness.control('POST', 'faults', fault)).status).toBe(201);
const issueNext = () => issue(harness, { number: next });
const idNext = () => dpsIdOf({ number: next });
const lookup = () => harness.call('GET', `/dps/${idNext()}`);
const inLedger = async () => (await ledger(harness)).filter(({ dps_id }) => dps_id === idNext()).length;
/** Longer than any test runs, so a delayed commit has not happened yet. */
const NEVER_MS = 3_600_000;
const lost = (call: Promise<Answered>) => expect(call).rejects.toThrow();

describe('a fault on issuing', () => {
  it('reject: answers the ordered code and leaves nothing', async () => {
    await order({ on: 'issue', kind: 'reject', code: 'E0316' });
    const answer = await issueNext();
    expect([answer.status, codesOf(answer), await inLedger()]).toEqual([400, ['E0316'], 0]);
    expect(JSON.stringify(answer.json)).toContain('lista NBS');
    expect((await issueNext()).status).toBe(201);
  });

  it('lost_after_commit: the note exists, the resend gets E0014, the look-up finds it', async () => {
    await order({ on: 'issue', kind: 'lost_after_commit' });
    await lost(issueNext());
    expect(await inLedger()).toBe(1);
    expect(codesOf(await issueNext())).toEqual(['E0014']);
    expect((await lookup()).status).toBe(200);
  });

  it('lost_before_commit: nothing exists and the resend is authorized', async () => {
    await order({ on: 'issue', kind: 'lost_before_commit' });
    await lost(issueNext());
    expect(codesOf(await lookup())).toEqual(['E2404']);
    expect((await issueNext()).status).toBe(201);
  });

  it('late_commit: absent at first', async () => {
    await order({ on: 'issue', kind: 'late_commit', delay_ms: NEVER_MS });
    await lost(issueNext());
    expect([codesOf(await lookup()), await inLedger()]).toEqual([['E2404'], 0]);
  });

  it('late_commit: there later', async () => {
    await order({ on: 'issue', kind: 'late_commit', delay_ms: 50 });
    await lost(issueNext());
    await eventually(lookup, ({ status }) => status === 200);
    expect(await inLedger()).toBe(1);
  });

  it('late_commit with a code: refused, and there later', async () => {
    await order({ on: 'issue', kind: 'late_commit', delay_ms: 50, code: UNCATALOGUED_CODE });
    const refused = await issueNext();
    expect([refused.status, codesOf(refused)]).toEqual([400, [UNCATALOGUED_CODE]]);
    await eventually(lookup, ({ status }) => status === 200);
    expect(await inLedger()).toBe(1);
  });

  it('late_commit: finds that a resend was faster and does nothing', async () => {
    await order({ on: 'issue', kind: 'late_commit', delay_ms: 50 });
    await lost(issueNext());
    const resent = await issueNext();
    const raced = idNext();
    next += 1;
    await order({ on: 'issue', kind: 'late_commit', delay_ms: 50 });
    await lost(issueNext());
    // Timers of one length end in order: when the second has committed, the first has had its turn.
    await eventually(lookup, ({ status }) => status === 200);
    expect((await ledger(harness)).filter(({ dps_id }) => dps_id === raced)).toHaveLength(1);
    expect([201, 400]).toContain(resent.status);
  });

  it('stale: hides the fresh note from look-ups, alone or with a lost answer', async () => {
    await order({ on: 'issue', kind: 'stale', delay_ms: NEVER_MS });
    await order({ on: 'issue', kind: 'lost_after_commit' });
    await lost(issueNext());
    expect([codesOf(await lookup()), await inLedger()]).toEqual([['E2404'], 1]);
    expect(codesOf(await issueNext())).toEqual(['E0014']);
  });

  it('stale: shows it in the end', async () => {
    await order({ on: 'issue', kind: 'stale', delay_ms: 50 });
    const key = keyOf(await issueNext());
    expect(keyOf(await eventually(lookup, ({ status }) => status === 200))).toBe(key);
    expect((await harness.call('GET', `/nfse/${key}`)).status).toBe(200);
  });

  it('slow: the note exists, and the call is seen, before the answer comes', async () => {
    await order({ on: 'issue', kind: 'slow', delay_ms: NEVER_MS });
    const answer = issueNext().catch(() => 'never answered');
    await eventually(inLedger, (count) => count === 1);
    const calls = (await harness.control('GET', 'calls')).json as { path: string; outcome: unknown }[];
    expect(calls.filter(({ outcome }) => outcome === 'open').map(({ path }) => path)).toEqual([
      '/test/SefinNacional/nfse',
    ]);
    next += 1;
    await order({ on: 'issue', kind: 'slow', delay_ms: 10 });
    expect((await issueNext()).status).toBe(201);
    slowAnswer = answer;
  });

  it('reset: breaks the connection off', async () => {
    await order({ on: 'issue', kind: 'reset' });
    await expect(issueNext()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await inLedger()).toBe(0);
    await order({ on: 'issue', kind: 'reset', commit: true });
    await lost(issueNext());
    expect(await inLedger()).toBe(1);
  });

  const JSON_TYPE = 'application/json; charset=utf-8';
  const failures: [string, number, string][] = [
    ['http_429', 429, JSON_TYPE],
    ['http_500', 500, JSON_TYPE],
    ['http_502_html', 502, 'text/html'],
    ['http_503', 503, 'text/html'],
    ['http_403_html', 403, 'text/html'],
    ['http_404_html', 404, 'text/html'],
  ];

  it.each(failures)('%s: %i without codes, with or without the note', async (kind, status, type) => {
    await order({ on: 'issue', kind });
    const answer = await issueNext();
    expect([answer.status, answer.contentType, await inLedger()]).toEqual([status, type, 0]);
    expect(codesOf(answer)).toEqual([]);
    await order({ on: 'issue', kind, commit: true });
    expect((await issueNext()).status).toBe(status);
    expect(await inLedger()).toBe(1);
  });

  it('transient: a code that is no verdict', async () => {
    await order({ on: 'issue', kind: 'transient' });
    expect(codesOf(await issueNext())).toEqual(['E1217']);
    await order({ on: 'issue', kind: 'transient', code: 'RNG9999' });
    expect(codesOf(await issueNext())).toEqual(['RNG9999']);
    expect(await inLedger()).toBe(0);
  });

  it.each(['lookup', 'fetch', 'event_lookup'])(
    'late_commit: %s, which has nothing to commit, is cut off once',
    async (on) => {
      const key = keyOf(await issueNext());
      const calls: Record<string, () => Promise<Answered>> = {
        lookup,
        fetch: () => harness.call('GET', `/nfse/${key}`),
        event_lookup: () => harness.call('GET', `/nfse/${key}/eventos/101101/1`),
      };
      const ask = calls[on] ?? lookup;
      await order({ on, kind: 'late_commit' });
      await lost(ask());
      expect((await ask()).status).toBe(on === 'event_lookup' ? 404 : 200);
    },
  );

  it('garbage and missing_key: a success that tells nothing', async () => {
    await order({ on: 'issue', kind: 'garbage' });
    const garbage = await issueNext();
    expect([garbage.status, garbage.json, await inLedger()]).toEqual([201, {}, 1]);
    next += 1;
    await order({ on: 'issue', kind: 'missing_key' });
    const keyless = await issueNext();
    expect([keyless.status, keyless.json.chaveAcesso, await inLedger()]).toEqual([201, undefined, 1]);
  });

  it('casing: shows the observed shapes one after the other, always with the code', async () => {
    await issueNext();
    await order({ on: 'issue', kind: 'casing', times: 5 });
    const shapes = new Set<string>();
    for (let i = 0; i < 4; i++) {
      const answer = await issueNext();
      expect(codesOf(answer)).toEqual(['E0014']);
      shapes.add(JSON.stringify({ ...answer.json, dataHoraProcessamento: '' }));
    }
    expect(shapes.size).toBe(4);
  });

  it('casing: has the older code of a schema fault with its own text', async () => {
    await order({ on: 'issue', kind: 'casing', times: 4 });
    const body = { dpsXmlGZipB64: issueBody(harness, { number: 9_000, serie: 'X' }).dpsXmlGZipB64 };
    const texts = new Map<string, unknown>();
    for (let i = 0; i < 4; i++) {
      const answer = await harness.call('POST', '/nfse', { body });
      const [item] = [answer.json.erros ?? answer.json.erro].flat() as Record<string, unknown>[];
      texts.set(String(codesOf(answer)), item?.Descricao ?? item?.descricao);
    }
    expect(texts).toEqual(
      new Map([
        ['E1235', 'Falha no esquema XML do DF-e.'],
        ['RNG6110', 'Falha Schema Xml'],
      ]),
    );
  });

  it('applies as often as ordered and only to what matches', async () => {
    const match = { cnpj: COMPANY, amount_in_cents: 990, environment: 'test' };
    await order({ on: 'issue', kind: 'http_500', times: 2, match });
    await order({ on: 'issue', kind: 'http_500', match: { cnpj: OTHER_COMPANY } });
    await order({ on: 'issue', kind: 'http_500', match: { environment: 'live' } });
    expect((await issueNext()).status).toBe(201);
    next += 1;
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await issue(harness, { number: next, amount: '9.90' })).status);
    expect(statuses).toEqual([500, 500, 201]);
  });
});

describe('a fault on the other calls', () => {
  it('lookup and fetch, chosen by the amount of the note', async () => {
    const key = keyOf(await issue(harness, { number: next, amount: '77.00' }));
    const match = { amount_in_cents: 7700 };
    await order({ on: 'lookup', kind: 'stale', match });
    await order({ on: 'fetch', kind: 'http_404_html', match });
    expect(codesOf(await lookup())).toEqual(['E2404']);
    expect((await lookup()).status).toBe(200);
    expect((await harness.call('GET', `/nfse/${key}`)).contentType).toBe('text/html');
    expect((await harness.call('GET', `/nfse/${key}`)).status).toBe(200);
  });

  it('lookup of a DPS that never became a note, by the amount of the DPS', async () => {
    await order({ on: 'issue', kind: 'lost_before_commit' });
    await lost(issue(harness, { number: next, amount: '66.00' }));
    await order({ on: 'lookup', kind: 'http_503', match: { amount_in_cents: 6600 } });
    expect((await lookup()).status).toBe(503);
  });

  it('event and event_lookup', async () => {
    const key = keyOf(await issueNext());
    await order({ on: 'event', kind: 'lost_after_commit' });
    await order({ on: 'event', kind: 'stale', delay_ms: NEVER_MS });
    await lost(cancel(harness, key));
    const find = () => harness.call('GET', `/nfse/${key}/eventos/101101/1`);
    expect((await find()).status).toBe(404);
    expect(codesOf(await cancel(harness, key))).toEqual(['E0840']);
    await order({ on: 'event_lookup', kind: 'http_502_html' });
    expect((await find()).status).toBe(502);
    await order({ on: 'event', kind: 'reject', code: 'E0822' });
    expect(codesOf(await cancel(harness, key))).toEqual(['E0822']);
  });

  it('late_commit of an event', async () => {
    const key = keyOf(await issueNext());
    const find = () => harness.call('GET', `/nfse/${key}/eventos/101101/1`);
    await order({ on: 'event', kind: 'late_commit', delay_ms: NEVER_MS });
    await lost(cancel(harness, key));
    expect((await find()).status).toBe(404);
    await order({ on: 'event', kind: 'late_commit', delay_ms: 50 });
    await lost(cancel(harness, key));
    await eventually(find, ({ status }) => status === 200);
    await order({ on: 'event_lookup', kind: 'missing_key' });
    expect((await find()).json.eventos).toBeUndefined();
  });
});
