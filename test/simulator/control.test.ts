import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mode } from '../../src/domain/common/ids.js';
import {
  COMPANY,
  codesOf,
  customer,
  issue,
  issueBody,
  OTHER_COMPANY,
  openSimulatorHarness,
  RIO,
  type SimulatorHarness,
} from '../support/harness/simulator.js';

const NOWHERE = '3500105';

describe('the control port', () => {
  let harness: SimulatorHarness;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  it('keeps an idle connection open for longer than scripts usually pause', async () => {
    const response = await fetch(`${harness.simulator.controlUrl}/_control/ledger`);
    expect(response.headers.get('keep-alive')).toBe('timeout=65');
  });

  it('takes an empty environment for none, as a script with an unset variable sends it', async () => {
    const response = await fetch(`${harness.simulator.controlUrl}/_control/ledger?environment=`);
    expect([response.status, await response.json()]).toEqual([200, []]);
  });

  const wrong: [string, unknown, string][] = [
    ['faults', [], 'body'],
    ['faults', { kind: 'slow' }, 'on'],
    ['faults', { on: 'nfse', kind: 'slow' }, 'on'],
    ['faults', { on: 'issue', kind: 'explode' }, 'kind'],
    ['faults', { on: 'issue', kind: 'slow', times: 0 }, 'times'],
    ['faults', { on: 'issue', kind: 'slow', times: 1.5 }, 'times'],
    ['faults', { on: 'issue', kind: 'slow', delay_ms: -1 }, 'delay_ms'],
    ['faults', { on: 'issue', kind: 'slow', delay_ms: '5' }, 'delay_ms'],
    ['faults', { on: 'issue', kind: 'reject' }, 'code'],
    ['faults', { on: 'issue', kind: 'reject', code: 'nonsense' }, 'code'],
    ['faults', { on: 'issue', kind: 'reject', code: 'E0316', commit: true }, 'commit'],
    ['faults', { on: 'issue', kind: 'reset', commit: 'yes' }, 'commit'],
    ['faults', { on: 'issue', kind: 'lost_before_commit', commit: true }, 'commit'],
    ['faults', { on: 'issue', kind: 'slow', match: { cnpj: '12' } }, 'match.cnpj'],
    ['faults', { on: 'issue', kind: 'slow', match: { amount: 1 } }, 'match.amount'],
    ['faults', { on: 'issue', kind: 'slow', match: { environment: 'prod' } }, 'match.environment'],
    ['faults', { on: 'issue', kind: 'slow', toString: 1 }, 'toString'],
    ['registry', { municipality: { ibge: RIO } }, 'environment'],
    ['registry', { environment: 'test' }, 'municipality'],
    ['registry', { environment: 'test', municipality: { ibge: '33' } }, 'municipality.ibge'],
    ['registry', { environment: 'test', municipality: { ibge: RIO, adherent: 1 } }, 'municipality.adherent'],
    [
      'registry',
      { environment: 'test', municipality: { ibge: RIO, service_codes: ['1'] } },
      'municipality.service_codes[0]',
    ],
    ['registry', { environment: 'test', company: { cnpj: COMPANY, regime: 'rich' } }, 'company.regime'],
    ['registry', { environment: 'test', company: { cnpj: COMPANY, cnc: {} } }, 'company.cnc.municipal_registration'],
    [
      'registry',
      { environment: 'test', municipality: { ibge: RIO, benefits: [{ number: '1' }] } },
      'municipality.benefits[0].number',
    ],
    ['registry', { environment: 'test', person: { cpf: '1' } }, 'person.cpf'],
    ['registry', { environment: 'test', company: { cnpj: COMPANY, since: '31/01/2026' } }, 'company.since'],
    ['registry', { environment: 'test', company: { cnpj: COMPANY, since: '2026-02-30' } }, 'company.since'],
    [
      'registry',
      { environment: 'test', municipality: { ibge: RIO, adherent_since: '2026-13-45' } },
      'municipality.adherent_since',
    ],
    ['registry', { environment: 'test', municipality: { ibge: RIO, rate: '5.01' } }, 'municipality.rate'],
    [
      'registry',
      {
        environment: 'test',
        municipality: { ibge: RIO, benefits: [{ number: '1'.repeat(14), kind: 'percent', percent: '100.01' }] },
      },
      'municipality.benefits[0].percent',
    ],
    ['certificates', {}, 'cnpj'],
    ['certificates', { cnpj: COMPANY, name: 'A:B' }, 'name'],
    ['events', { environment: 'test' }, 'access_key'],
    ['clock', { offset_s: 0.5 }, 'offset_s'],
    ['clock', {}, 'offset_s'],
  ];

  it.each(wrong)('POST %s %j is refused, naming %s', async (path, body, field) => {
    const { status, json } = await harness.control('POST', path, body);
    expect([status, json]).toEqual([400, { error: { field, message: expect.any(String) } }]);
  });

  it('refuses what is not JSON, unknown addresses, and a ledger of no environment', async () => {
    const response = await fetch(`${harness.simulator.controlUrl}/_control/clock`, { method: 'POST', body: '{' });
    expect(response.status).toBe(400);
    expect((await harness.control('GET', 'nothing')).status).toBe(404);
    expect((await harness.control('GET', 'ledger?environment=prod')).status).toBe(400);
    expect((await harness.control('GET', 'ledger?environment=live')).json).toEqual([]);
  });

  it('is for loopback names only', async () => {
    const { port } = new URL(harness.simulator.controlUrl);
    const status = await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/_control/calls', headers: { host: 'evil.example' } };
      const sent = request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end();
    });
    expect(status).toBe(403);
  });

  it.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, 200],
  ])('takes a POST of a page of this machine only: %j', async (headers, expected) => {
    const { port } = new URL(harness.simulator.controlUrl);
    const status = await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: '/_control/clock', method: 'POST', headers };
      const sent = request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end('{"offset_s":0}');
    });
    expect(status).toBe(expected);
  });

  it('lists notes and calls in the promised shape', async () => {
    await harness.control('POST', 'faults', { on: 'issue', kind: 'reset' });
    await expect(issue(harness)).rejects.toThrow();
    await issue(harness);
    await issue(harness);
    expect((await harness.control('GET', 'ledger?environment=test')).json).toEqual([
      {
        access_key: expect.stringMatching(/^\d{50}$/),
        dps_id: expect.stringMatching(/^DPS/),
        cnpj: COMPANY,
        number: 1,
        amount_in_cents: 150_000,
        authorized_at: expect.stringMatching(/Z$/),
        environment: 'test',
      },
    ]);
    const dps_id = expect.stringMatching(/^DPS\d{42}$/);
    expect((await harness.control('GET', 'calls')).json).toEqual([
      expect.objectContaining({ path: '/test/SefinNacional/nfse', dps_id, outcome: 'reset', faults: ['reset'] }),
      expect.objectContaining({ method: 'POST', outcome: 201, environment: 'test', caller: COMPANY, dps_id }),
      expect.objectContaining({ outcome: 400, codes: ['E0014'], time: expect.stringMatching(/Z$/) }),
    ]);
  });

  it('makes a certificate that the simulator accepts, and the trust root to call it with', async () => {
    const { status, json } = await harness.control('POST', 'certificates', { cnpj: OTHER_COMPANY, name: 'Outra' });
    expect(status).toBe(201);
    const made = json as Record<'certificate_pem' | 'private_key_pem' | 'ca_pem', string>;
    expect(made.ca_pem).toBe(harness.simulator.caPem);
    const identity = { certificatePem: made.certificate_pem, privateKeyPem: made.private_key_pem };
    const body = issueBody(harness, { cnpj: OTHER_COMPANY }, identity);
    expect((await harness.call('POST', '/nfse', { body, identity })).status).toBe(201);
  });

  it('takes every member of the registries', async () => {
    const date = '2026-01-31';
    const municipality = {
      ibge: NOWHERE,
      adherent: true,
      adherent_since: date,
      national_emitter: true,
      registration_required: false,
      customer_required: false,
      cancel_days: 30,
      cancel_max_amount_in_cents: 1,
      substitution_days: 30,
      substitution_needs_customer: true,
      substitution_keeps_customer: true,
      service_codes: ['010101'],
      municipal_codes: ['010101001'],
      non_incident_codes: ['010101'],
      special_regimes: ['6'],
      deductions: ['percent', 'value', 'documents'],
      benefits: [
        {
          number: '33045570100001',
          kind: 'percent',
          percent: '50.00',
          until: date,
          service_codes: ['010101'],
          cnpjs: [COMPANY],
          local_only: true,
        },
      ],
      withholding_cpfs: ['12345678909'],
      postal_codes: ['20'],
      rate: '5.00',
    };
    const cnc = {
      municipal_registration: '1',
      since: date,
      emitter_since: date,
      authorized: true,
      inactive_since: date,
    };
    const company = { cnpj: OTHER_COMPANY, cnc, regime: 'mei', registered: true, since: date, municipality: RIO };
    const person = { cpf: '12345678909', registered: false, since: date };
    const answer = await harness.control('POST', 'registry', { environment: 'live', municipality, company, person });
    expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
    const kept = JSON.parse(await readFile(join(harness.folder, 'registry-live.json'), 'utf8'));
    expect(Object.keys(kept.municipalities[NOWHERE])).toHaveLength(Object.keys(municipality).length - 1);
    expect(kept.companies[OTHER_COMPANY]).toMatchObject({ registered: true, cnc: { emitterSince: date } });
    expect(kept.persons).toEqual({ '12345678909': { registered: false, since: date } });
  });

  it('refuses a note by the entries of its registries', async () => {
    await harness.control('POST', 'registry', {
      environment: 'test',
      person: { cpf: '12345678909', registered: false },
    });
    expect(codesOf(await issue(harness, { number: 60, toma: customer('<CPF>12345678909</CPF>') }))).toEqual(['E0207']);
    await harness.control('POST', 'registry', {
      environment: 'test',
      person: { cpf: '12345678909', registered: true },
    });
    expect((await issue(harness, { number: 60, toma: customer('<CPF>12345678909</CPF>') })).status).toBe(201);
  });

  it('takes back every entry of the registries of one environment or both, also over a restart', async () => {
    const entry = { municipality: { ibge: RIO, service_codes: [] } };
    const put = (environment: string) => harness.control('POST', 'registry', { environment, ...entry });
    const codes = async (mode: Mode, number: number) =>
      codesOf(await issue(harness, { number, tpAmb: mode === 'test' ? '2' : '1' }, { mode }));
    await put('test');
    await put('live');
    expect([await codes('test', 70), await codes('live', 70)]).toEqual([['E0312'], ['E0312']]);
    const cleared = await harness.control('DELETE', 'registry?environment=test');
    expect([cleared.status, cleared.json]).toEqual([200, { ok: true }]);
    await harness.restart();
    expect([await codes('test', 70), await codes('live', 70)]).toEqual([[], ['E0312']]);
    expect((await harness.control('DELETE', 'registry?environment=prod')).status).toBe(400);
    await harness.control('DELETE', 'registry');
    expect(await codes('live', 70)).toEqual([]);
  });

  it('clears faults', async () => {
    await harness.control('POST', 'faults', { on: 'issue', kind: 'http_500', times: 9 });
    expect((await harness.control('DELETE', 'faults')).json).toEqual({ cleared: 1 });
    expect((await issue(harness, { number: 50 })).status).toBe(201);
  });
});
