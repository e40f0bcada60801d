import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { supportStream } from '../../src/domain/audit/events.js';
import { dpsStream, parseInvoiceStream } from '../../src/domain/common/ids.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { eventually } from '../support/eventually.js';
import { issueBodyOf } from '../support/fixture/demo.js';
import { tokenOf } from '../support/harness/console.js';
import {
  CNPJ,
  type ConsoleServiceHarness,
  DOCUMENT,
  openConsoleServiceHarness,
} from '../support/harness/console-service.js';
import { contextAt } from '../support/harness/event-store.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

type Page = { status: number; location: string | null; text: string };

const ENGLISH = { 'accept-language': 'en' };

/** Uses the console of a running service as a browser would, without one. */
const visitor = (origin: string) => {
  const visit = async (path: string): Promise<Page> =>
    pageOf(await fetch(`${origin}/console${path}`, { redirect: 'manual', headers: ENGLISH }));
  return {
    visit,
    /** Sends a form of the overview, which has one, with its token. */
    send: async (path: string, fields: Record<string, string>): Promise<Page> => {
      const form_token = tokenOf((await visit('')).text);
      const response = await fetch(`${origin}/console${path}`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ form_token, operator: 'maria', ...fields }),
        headers: { origin, ...ENGLISH },
      });
      return await pageOf(response);
    },
  };
};

const pageOf = async (response: Response): Promise<Page> => ({
  status: response.status,
  location: response.headers.get('location'),
  text: await response.text(),
});

describeWithPostgres('the console of a running service', () => {
  let harness: ConsoleServiceHarness;
  beforeAll(async () => {
    harness = await openConsoleServiceHarness();
    const { invoiceId = '' } = parseInvoiceStream(harness.parkedStream) ?? {};
    const now = systemClock.now();
    const allocated = (number: number, id: string) => ({
      type: 'DpsNumberAllocated' as const,
      data: { number, nextNumber: number + 1, invoiceId: id, at: now },
    });
    const others = [1, 2, 3, 4, 5, 6].map((number) => allocated(number, '00000000-0000-4000-8000-000000000000'));
    const events = [...others, allocated(7, invoiceId), allocated(8, invoiceId)];
    const { store } = harness.running.service.engines;
    await store.append(dpsStream('live', CNPJ, '1'), { kind: 'none' }, events, contextAt(now));
  });
  afterAll(() => harness.close());

  const found = async (fields: Record<string, string>): Promise<readonly string[]> => {
    const { send, visit } = visitor(harness.origin);
    const answer = await send('/search', fields);
    const address = answer.location?.replace('/console', '');
    const [, only] = /^\/invoices\/(.*)/.exec(address ?? '') ?? [];
    if (only !== undefined) return [only];
    const { status, text } = address === undefined ? answer : await visit(address);
    expect(status).toBe(200);
    return [...text.matchAll(/<a href="\/console\/invoices\/(nfse_[0-9a-f-]+)"/g)].map(([, id = '']) => id);
  };

  it('finds an invoice by reference, access key, and any of its DPS ids', async () => {
    const { ids, seen, dpsIds } = harness;
    expect(await found({ text: seen.reference })).toEqual([ids.issued]);
    expect(await found({ text: seen.accessKey })).toEqual([ids.issued]);
    expect(await found({ text: dpsIds.last })).toEqual([ids.indeterminate]);
    // The DPS id of an attempt before the last: only the stream of numbers tells its invoice. Another invoice's row has the id as its last.
    expect(await found({ text: dpsIds.first })).toContain(ids.indeterminate);
    expect(await found({ text: `${dpsIds.last.slice(0, -1)}9` })).toEqual([]);
  });

  it('finds every invoice of a customer by document, newest first, of all companies or of one', async () => {
    const { ids } = harness;
    expect(await found({ text: DOCUMENT })).toEqual([ids.refused, ids.issued, ids.indeterminate]);
    expect(await found({ text: '52998224725', company: '12.345.678/0001-95' })).toHaveLength(3);
    expect(await found({ text: '11144477735' })).toEqual([ids.open]);
    expect(await found({ text: '39053344705' })).toEqual([]);
  });

  it('finds a note of a company by its number', async () => {
    const { ids } = harness;
    expect(await found({ text: '148', company: CNPJ })).toEqual([ids.issued]);
    expect(await found({ text: '149', company: CNPJ })).toEqual([]);
    expect(await found({ text: '148' })).toEqual([]);
  });

  it('refuses a Host that is none with a text and the headers of every page', async () => {
    const { hostname, port } = new URL(harness.origin);
    const { status, headers, text } = await new Promise<{ status?: number; headers: object; text: string }>(
      (resolve, reject) => {
        get({ hostname, port, path: '/console', headers: { host: 'a:' } }, (response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
        }).on('error', reject);
      },
    );
    expect({ status, text }).toEqual({
      status: 400,
      text: 'The request is no valid HTTP: check its Host and its address.\n',
    });
    expect(headers).toMatchObject({
      date: expect.anything(),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.anything(),
    });
  });

  it('shows what waits: its age, its attempts, its parked work', async () => {
    const { visit } = visitor(harness.origin);
    const { text } = await visit('/indeterminate');
    expect(text).toContain(harness.ids.indeterminate);
    expect(text).toMatch(/1 d 1 h/);
    const overview = (await visit('')).text;
    expect(overview).toMatch(/<span class="count">1<\/span> indeterminate invoice</);
    expect(overview).toMatch(/<span class="count">1<\/span> parked work item</);
    for (const role of ['api', 'projector', 'relay', 'issuer', 'sweeper'])
      expect(overview).toContain(`<div>${role}</div>`);
  });

  it('asks the in-process queue for another try, and records who did', async () => {
    const { send } = visitor(harness.origin);
    expect((await send('/parked/retry', { stream: 'all' })).location).toBe('/console/parked?retried=1');
    const { rows } = await harness.running.service.engines.pool.query('select from parked_taps where retry_asked');
    expect(rows).toHaveLength(1);
  });

  it('makes a projection again while it is read, shows how far it is, and records who ordered it', async () => {
    const { send, visit } = visitor(harness.origin);
    expect((await send('/projections/rebuild', { projection: 'invoices' })).location).toBe(
      '/console/projections?begun=1',
    );
    const { text } = await eventually(
      () => visit('/projections'),
      (page) => page.text.includes('done</span> generation 2'),
    );
    expect(text).not.toContain('data-reload="');
    expect((await visit('/projections?lang=pt')).text).toContain('pronta</span> geração 2, ');
    expect(await found({ text: harness.seen.reference })).toEqual([harness.ids.issued]);
    const { events } = await harness.running.service.engines.store.load(supportStream);
    expect(events.map(({ type, metadata }) => [type, metadata.actor])).toEqual([
      ['ParkedWorkRetried', 'support:maria'],
      ['ProjectionRebuildOrdered', 'support:maria'],
    ]);
  });

  it('leaves health and metrics open to probes, by whatever name', async () => {
    const { status } = await fetch(`${harness.origin}/health/live`, { headers: { host: 'probe.internal' } });
    expect(status).toBe(200);
    expect((await fetch(`${harness.origin}/consolex`)).status).toBe(404);
  });
});

describeWithPostgres('a settlement in the console', () => {
  let running: RunningService;
  beforeAll(async () => {
    const short = {
      ALLOW_SHORT_WINDOWS: '1',
      PROCESSING_TIMEOUT_S: '8',
      SWEEP_INTERVAL_S: '1',
      LOOKUP_INTERVALS_S: '1',
    };
    running = await startRunningService({ ...short, AUTHORIZER_TIMEOUT_S: '3' });
  });
  afterAll(() => running.close());

  const api = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${running.keys.test}`, 'content-type': 'application/json' };
    return (await (await fetch(`${running.service.url}${path}`, { ...init, headers })).json()) as Record<
      string,
      unknown
    >;
  };

  describe('of an invoice whose answer was lost', () => {
    it('is refused while the authorizer says nothing, then issues it, and the client sees it', async () => {
      await running.control('POST', '/_control/faults', { on: 'issue', kind: 'lost_after_commit', times: 1 });
      await running.control('POST', '/_control/faults', { on: 'lookup', kind: 'http_500', times: 10_000 });
      const { id } = await api('/v1/nfse', { method: 'POST', body: JSON.stringify(issueBodyOf()) });
      await eventually(
        () => api(`/v1/nfse/${id}`),
        ({ status }) => status === 'indeterminate',
        60_000,
      );
      const { send, visit } = visitor(running.service.opsUrl);
      const settle = () => send(`/invoices/${id}/settle`, { as: 'issued', evidence: 'Portal consultado' });
      const refused = await settle();
      expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('proves nothing')]);
      await running.control('DELETE', '/_control/faults');
      expect((await settle()).location).toBe(`/console/invoices/${id}?settled=1`);
      expect(await api(`/v1/nfse/${id}`)).toMatchObject({ status: 'issued', access_key: expect.any(String) });
      const { text } = await visit(`/invoices/${id}`);
      expect(text).toMatch(/IndeterminateResolved[\s\S]*support:maria[\s\S]*settled as issued/);
      expect(text).not.toContain('Portal consultado');
      expect((await send(`/invoices/${id}/reveal`, {})).text).toContain('Portal consultado');
    });
  });
});
