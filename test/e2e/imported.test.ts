import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run.js';
import { accessKeyCheckDigit } from '../../src/domain/common/access-key.js';
import { brasiliaDate } from '../../src/domain/common/time.js';
import { referenceCommands } from '../../src/runtime/commands/main.js';
import { roles } from '../../src/runtime/config/config.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';
import { untilServed } from '../support/until-served.js';

type Mode = 'live' | 'test';
type Body = Record<string, unknown> & {
  id: string;
  status: string;
  access_key: string;
  links: { pdf: string; xml: string };
  error?: { code: string; retryable?: boolean };
};

const CNPJ = '12345678000195';
const OLD = '2025-03-10T15:00:00.000Z';

/** The notes were made by another installation of the company, with the same authorizer: this one only takes them over. */
describeWithPostgres('invoices imported from elsewhere', () => {
  let folder: string;
  let elsewhere: RunningService;
  let here: RunningService;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-imported-'));
    elsewhere = await startRunningService({ SWEEP_INTERVAL_S: '1' });
    const { simulator } = elsewhere.service;
    if (simulator === undefined) throw new Error('the other installation runs the simulator');
    await writeFile(join(folder, 'ca.pem'), simulator.caPem);
    here = await startRunningService(
      {
        DATA_DIR: elsewhere.config.dataDir,
        AUTHORIZER_TEST_URL: simulator.urls.test,
        AUTHORIZER_LIVE_URL: simulator.urls.live,
        AUTHORIZER_CA_FILE: join(folder, 'ca.pem'),
        SWEEP_INTERVAL_S: '1',
      },
      roles,
    );
  });
  afterAll(async () => {
    await here.close();
    await elsewhere.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = (at: RunningService, mode: Mode, method: string, path: string, body?: object) =>
    at.call<Body>(mode, method, path, body);
  const download = async (path: string, mode: Mode = 'live') => {
    const headers = { authorization: `Bearer ${here.keys[mode]}` };
    const url = path.startsWith('http') ? path : `${here.service.url}${path}`;
    const response = await untilServed(() => fetch(url, { headers }));
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const issuedElsewhere = async (mode: Mode, amount: number): Promise<{ note: Body; xml: Buffer }> => {
    const asked = { amount_in_cents: amount, description: 'Serviço de antes' };
    const { body } = await call(elsewhere, mode, 'POST', '/v1/nfse', asked);
    const note = await eventually(
      async () => (await call(elsewhere, mode, 'GET', `/v1/nfse/${body.id}`)).body,
      ({ status }) => status === 'issued',
    );
    return { note, xml: (await download(note.links.xml)).bytes };
  };
  const importing = async (...lines: readonly object[]): Promise<void> => {
    const file = join(folder, 'invoices.ndjson');
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const session = sessionOver(here.service.engines, here.config, systemClock);
    const output: string[] = [];
    const terminal = { out: () => undefined, err: (text: string) => void output.push(text) };
    const exit = await runCommand(['invoice', 'import', file], referenceCommands, async () => session, terminal);
    expect(output.join('\n')).toBe('');
    expect(exit).toBe(0);
  };
  const line = (fields: object) => ({
    cnpj: CNPJ,
    mode: 'live',
    origin: 'legacy',
    state: 'issued',
    amount_in_cents: 5_000,
    ...fields,
  });
  const found = async (reference: string, mode: Mode = 'live'): Promise<Body> => {
    const { body } = await call(here, mode, 'GET', `/v1/nfse?reference=${reference}`);
    const [first] = body.data as Body[];
    if (first === undefined) throw new Error('not found by its reference');
    expect((await call(here, mode, 'GET', `/v1/nfse/${first.id}`)).body).toMatchObject({
      id: first.id,
      status: first.status,
    });
    return first;
  };
  const cancelCode = async ({ id }: Body, mode: Mode = 'live') =>
    (await call(here, mode, 'POST', `/v1/nfse/${id}/cancel`, {})).body.error?.code;

  it('an old one keeps its markers and lacks what it never had; its month is over', async () => {
    await importing(line({ reference: 'old', description: 'Mensalidade {{mes}}', created_at: OLD, issued_at: OLD }));
    const body = await found('old');
    expect(body).toMatchObject({ status: 'issued', description: 'Mensalidade {{mes}}', competence: '2025-03-10' });
    expect(body).toMatchObject({ created_at: OLD, issued_at: OLD, failed_attempts: 0, livemode: true });
    for (const absent of ['service_code', 'cnae', 'customer', 'access_key', 'cancelable_until', 'error']) {
      expect(body).not.toHaveProperty(absent);
    }
    expect(await cancelCode(body)).toBe('nfse.not_cancelable');
    const keyed = line({ reference: 'old-key', access_key: keyOf('0001'), issued_at: OLD });
    await importing(keyed);
    expect(await cancelCode(await found('old-key'))).toBe('nfse.cancel_window_closed');
  });

  it('its reference is taken permanently, also when it has an id of its own', async () => {
    const id = 'nfse_77777777-7777-4777-8777-777777777777';
    await importing(line({ reference: 'own-id', id, issued_at: OLD }));
    expect((await found('own-id')).id).toBe(id);
    const again = { amount_in_cents: 5_000, description: 'x', reference: 'own-id' };
    const { status, body } = await call(here, 'live', 'POST', '/v1/nfse', again);
    expect({ status, code: body.error?.code }).toEqual({ status: 409, code: 'nfse.reference_in_use' });
    expect(JSON.stringify(body)).toContain(id);
  });

  it('the Idempotency-Key of its request is taken, also when the repeated request has a reference', async () => {
    const issued_at = new Date(Date.now() - 60_000).toISOString();
    await importing(line({ idempotency_key: 'lost-key', access_key: keyOf('0009'), issued_at }));
    for (const more of [{}, { reference: 'lost-reference' }]) {
      const again = { amount_in_cents: 5_000, description: 'x', ...more };
      const answer = await here.call<Body>('live', 'POST', '/v1/nfse', again, { 'idempotency-key': 'lost-key' });
      expect({ status: answer.status, code: answer.body.error?.code }).toEqual({
        status: 409,
        code: 'idempotency_key_reuse',
      });
      expect(JSON.stringify(answer.body)).toContain('não é mais possível comparar');
    }
  });

  it('a web-made one may have no competence, a canceled one no issued_at', async () => {
    await importing(
      line({ reference: 'web', origin: 'web', issued_at: OLD, created_at: OLD }),
      line({ reference: 'gone', state: 'canceled', created_at: OLD, canceled_at: OLD }),
    );
    expect(await found('web')).not.toHaveProperty('competence');
    const gone = await found('gone');
    expect(gone).toMatchObject({ status: 'canceled' });
    expect(gone).not.toHaveProperty('cancellation');
    expect(gone).not.toHaveProperty('issued_at');
    expect(await cancelCode(gone)).toBe('nfse.already_canceled');
  });

  it('replaced and manual ones stay issued and cannot be canceled', async () => {
    const now = new Date().toISOString();
    await importing(
      line({ reference: 'replaced', state: 'replaced', access_key: keyOf('0002'), issued_at: now, replaced_by: 'x' }),
      line({ reference: 'manual', origin: 'manual', access_key: keyOf('0003'), issued_at: now }),
    );
    for (const reference of ['replaced', 'manual']) {
      const body = await found(reference);
      expect(body).toMatchObject({ status: 'issued', competence: brasiliaDate(now) });
      expect(body).not.toHaveProperty('cancelable_until');
      expect(await cancelCode(body)).toBe('nfse.not_cancelable');
    }
  });

  it('serves the XML of its file byte for byte, and a PDF of it', async () => {
    const { note, xml } = await issuedElsewhere('live', 6_001);
    await writeFile(join(folder, 'note.xml'), xml);
    await importing(line({ reference: 'with-file', amount_in_cents: 6_001, xml_file: 'note.xml' }));
    const body = await found('with-file');
    expect(body).toMatchObject({ access_key: note.access_key, issued_at: note.issued_at });
    expect((await download(body.links.xml)).bytes.equals(xml)).toBe(true);
    expect((await download(body.links.pdf)).bytes.subarray(0, 5).toString()).toBe('%PDF-');
  });

  it.each(['live', 'test'] as const)('without a file the XML is fetched by its access key (%s)', async (mode) => {
    const { note, xml } = await issuedElsewhere(mode, 7_001);
    const { access_key, issued_at } = note;
    await importing(line({ reference: 'by-key', mode, amount_in_cents: 7_001, access_key, issued_at }));
    const { id } = await found('by-key', mode);
    expect((await download(`/v1/nfse/${id}/xml`, mode)).bytes.equals(xml)).toBe(true);
    expect((await download(`/v1/nfse/${id}/pdf`, mode)).bytes.subarray(0, 5).toString()).toBe('%PDF-');
  });

  it('without a note under its key, or without a key, there is nothing to download, now or later', async () => {
    await importing(
      line({ reference: 'unknown-key', access_key: keyOf('0004'), issued_at: OLD }),
      line({ reference: 'foreign-key', access_key: keyOf('0005', '98765432000198'), issued_at: OLD }),
      line({ reference: 'no-key', issued_at: OLD }),
    );
    for (const reference of ['unknown-key', 'foreign-key', 'no-key']) {
      const { id } = await found(reference);
      for (const format of ['xml', 'pdf']) {
        const { status, body } = await call(here, 'live', 'GET', `/v1/nfse/${id}/${format}`);
        expect({ status, error: body.error }).toMatchObject({
          status: 409,
          error: { code: 'nfse.not_issued', retryable: false },
        });
      }
    }
  });

  it('one of this month can be canceled like any other', async () => {
    const { note } = await issuedElsewhere('live', 8_001);
    const { access_key, issued_at } = note;
    await importing(line({ reference: 'cancel', amount_in_cents: 8_001, access_key, issued_at }));
    const body = await found('cancel');
    expect(body.cancelable_until).toBe(note.cancelable_until);
    expect((await call(here, 'live', 'POST', `/v1/nfse/${body.id}/cancel`, {})).status).toBe(202);
    await eventually(
      async () => (await call(here, 'live', 'GET', `/v1/nfse/${body.id}`)).body,
      ({ status }) => status === 'canceled',
    );
  });
});

/** A key without a right check digit: an old system's key may be one that the authorizer would not accept. */
const keyOf = (tail: string, cnpj = CNPJ): string => {
  const first = `330455722${cnpj}${'0'.repeat(22)}${tail}`;
  return first + accessKeyCheckDigit(first);
};
