import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { FAULT_KINDS } from '../../src/simulator/state/faults.js';
import { eventually } from '../support/eventually.js';
import { pfxOf } from '../support/fixture/pfx.js';
import { runProgram } from '../support/harness/processes.js';
import {
  openServiceProcesses,
  type ServiceProcess,
  type ServiceProcesses,
} from '../support/harness/service-processes.js';
import { plant, spellings } from '../support/planted.js';
import { describeWithPostgres } from '../support/postgres.js';
import { untilServed } from '../support/until-served.js';

type Line = Record<string, unknown> & { msg?: string };
type Body = { id: string; status: string; links?: { pdf: string; xml: string }; cancellation?: { status: string } };

/** The faults of all kinds open the breaker, which pauses for a shorter time when a window of the contract is shorter. */
const SHORT_PAUSES = { ALLOW_SHORT_WINDOWS: '1', QUEUED_TIMEOUT_S: '225' };
const TRACE = {
  ...SHORT_PAUSES,
  LOG_LEVEL: 'trace',
  AUTHORIZER_TIMEOUT_S: '4',
  LOOKUP_INTERVALS_S: '1,1',
  RATE_WRITE_PER_MINUTE: '60',
};
const RUN_MS = 600_000;
const ENDED_WITHIN_MS = 240_000;

/** Faults of the simulator, each for one amount; faults that delay answers or hide notes are left out, because they only cost time. */
const KINDS = FAULT_KINDS.filter((kind) => !['slow', 'stale', 'late_commit'].includes(kind));

const DOCUMENT_FOR_A_CODE = 40_900;

describeWithPostgres('the log at its most talkative', () => {
  const planted = plant();
  let processes: ServiceProcesses;
  let service: ServiceProcess;
  let secondKey: string;
  const outputs: string[] = [];
  const lines: Line[] = [];
  const accepted = new Set<string>();

  const ask = async (path: string, options: Parameters<ServiceProcess['ask']>[1] = {}) => {
    const response = await service.ask(path, options);
    const text = await response.text();
    const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Body;
    if (response.status === 202) accepted.add(body.id);
    return { response, body };
  };

  const bodyOf = (amount: number, rest: object = {}) => ({
    amount_in_cents: amount,
    description: `${planted.description} ${amount}`,
    customer: { document: planted.cpf, name: planted.customerName },
    ...rest,
  });

  const issue = async (amount: number, rest: object = {}, idempotencyKey?: string): Promise<string> => {
    const options = { body: bodyOf(amount, rest), ...(idempotencyKey === undefined ? {} : { idempotencyKey }) };
    const { response, body } = await ask('/v1/nfse', options);
    expect([response.status, body]).toEqual([202, expect.anything()]);
    return body.id;
  };

  const ended = (id: string): Promise<Body> =>
    eventually(
      async () => (await ask(`/v1/nfse/${id}`)).body,
      ({ status, cancellation }) => !['queued', 'processing'].includes(status) && cancellation?.status !== 'pending',
      ENDED_WITHIN_MS,
    );

  const fault = async (on: string, kind: string, amount: number, code = 'E0190'): Promise<void> => {
    const message = kind === 'reject' ? { code, message: planted.authorizerText } : {};
    const response = await fetch(`${service.controlUrl}/_control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ on, kind, times: 1, delay_ms: 100, match: { amount_in_cents: amount }, ...message }),
    });
    expect([on, kind, response.status]).toEqual([on, kind, 201]);
  };

  /** An operator's command in a separate process, with the log level of the service. */
  const operate = async (...argv: string[]): Promise<number | null> => {
    const { folder, database } = processes.operator;
    const program = runProgram(['src/main.ts', ...argv], {
      LOG_LEVEL: 'trace',
      DATA_DIR: folder,
      DATABASE_URL: database.connectionString,
      MASTER_KEY_FILE: join(folder, 'master.key'),
    });
    const { code } = await program.ended;
    outputs.push(program.output().stdout, program.output().stderr);
    return code;
  };

  beforeAll(async () => {
    processes = await openServiceProcesses();
    service = await processes.start('all', TRACE);
    secondKey = (await processes.newKey()).key;
    await storeSecretsByCommand();
    await Promise.all([goTheWholeWay(), failAtTheAuthorizer()]);
    await askForWhatIsWrong();
    await loseTheDatabase();
    await service.stop();
    const { stdout, stderr } = service.output();
    outputs.push(stdout, stderr);
    lines.push(
      ...stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Line),
    );
  }, RUN_MS);
  afterAll(() => processes.close());

  const storeSecretsByCommand = async (): Promise<void> => {
    const { cnpj } = demoCompany();
    const inFolder = (name: string): string => join(processes.operator.folder, name);
    const { privateKeyPem, certificatePem } = issueCertificate({
      subjectName: 'EMPRESA',
      cnpj,
      validDays: 10,
      now: systemClock.now(),
    });
    const pfx = pfxOf(privateKeyPem, [certificatePem], { password: planted.certificatePassword });
    await writeFile(inFolder('made.pfx'), pfx);
    await writeFile(inFolder('password'), planted.certificatePassword);
    await writeFile(inFolder('wrong'), planted.wrongPassword);
    await writeFile(
      inFolder('registry.json'),
      JSON.stringify({ cnpj: planted.cnpj, legal_name: planted.registryName }),
    );
    expect(await operate('registry', 'put', inFolder('registry.json'))).toBe(0);
    const put = ['certificate', 'put', cnpj, '--pfx', inFolder('made.pfx'), '--password-file'];
    expect(await operate(...put, inFolder('wrong'))).toBe(1);
    expect(await operate(...put, inFolder('password'))).toBe(0);
    // The simulator accepts only those that it made.
    expect(await operate('certificate', 'issue-demo', cnpj)).toBe(0);
  };

  const goTheWholeWay = async (): Promise<void> => {
    const { reference, idempotencyKey, cnpj, foreignName, taxId, street } = planted;
    const id = await issue(30_001, { reference }, idempotencyKey);
    await ask('/v1/nfse', { body: bodyOf(30_001, { reference }), idempotencyKey });
    await ask('/v1/nfse', { body: bodyOf(30_002), idempotencyKey });
    await ask('/v1/nfse', { body: bodyOf(30_001, { reference }) });
    await ask(`/v1/nfse?reference=${encodeURIComponent(reference)}`);
    await issue(30_003, { customer: { document: cnpj } });
    const address = { street, number: '1', district: 'A', city: 'B', state: 'C', postal_code: '97477', country: 'US' };
    const foreign = { type: 'foreign', name: foreignName, tax_id: taxId, address };
    await issue(30_004, { customer: foreign, foreign_amount: { currency: 'USD', amount_in_cents: 5_000 } });
    const { links } = await ended(id);
    for (const link of [links?.pdf ?? '', links?.xml ?? '']) {
      const { pathname, search } = new URL(link);
      secrets.push(new URL(link).searchParams.get('t') ?? '');
      const { status } = await untilServed(() => service.ask(`${pathname}${search}`, { key: '' }));
      expect(status).toBe(200);
    }
    const cancel = { reason: 'other', description: planted.cancelDescription };
    expect((await ask(`/v1/nfse/${id}/cancel`, { body: cancel })).response.status).toBe(202);
    expect(await ended(id)).toMatchObject({ status: 'canceled' });
  };

  const failAtTheAuthorizer = async (): Promise<void> => {
    const amounts = KINDS.map((kind, index) => ({ kind, amount: 40_000 + index }));
    for (const { kind, amount } of amounts) {
      await fault('issue', kind, amount);
      if (kind !== 'reject') await fault('lookup', kind, amount);
    }
    // A server that answers a document where a code belongs.
    await fault('issue', 'reject', DOCUMENT_FOR_A_CODE, planted.cpf);
    const withDocument = await issue(DOCUMENT_FOR_A_CODE);
    const ids = await Promise.all(amounts.map(({ amount }) => issue(amount)));
    await Promise.all(ids.map((id, index) => cancelUnderFault(id, 40_000 + index, KINDS[index] ?? 'reset')));
    expect(await ended(withDocument)).toMatchObject({ status: 'issued' });
    const before = outputs.length;
    expect(await operate('invoice', 'timeline', withDocument)).toBe(0);
    expect(outputs.slice(before).join('\n')).toContain('OTHER');
  };

  const cancelUnderFault = async (id: string, amount: number, kind: string): Promise<void> => {
    if ((await ended(id)).status !== 'issued') return;
    await fault('event', kind, amount);
    await ask(`/v1/nfse/${id}/cancel`, { body: { description: planted.cancelDescription } });
    await ended(id);
  };

  const askForWhatIsWrong = async (): Promise<void> => {
    const { pathSegment, downloadToken, unknownKey, badKey, fieldName, cpf, customerName } = planted;
    for (const key of [unknownKey, badKey]) await ask('/v1/activities', { key });
    await ask('/v1/activities', { key: secondKey });
    const [id = ''] = accepted;
    for (const path of [`/v1/${pathSegment}`, `/v1/nfse/${pathSegment}`, `/v1/nfse/${cpf}`, `/${pathSegment}`]) {
      await ask(path);
    }
    for (const file of ['pdf', 'xml']) await ask(`/v1/nfse/${id}/${file}?t=${downloadToken}`, { key: '' });
    const wrong = [
      { [fieldName]: customerName },
      bodyOf(1),
      bodyOf(50_001, { customer: { document: '11144477736', name: customerName } }),
      bodyOf(50_002, { reference: planted.reference, cnae: customerName, service_code: customerName }),
    ];
    for (const body of wrong) await ask('/v1/nfse', { body });
    await ask('/v1/nfse', { body: bodyOf(50_003), idempotencyKey: `${planted.idempotencyKey}${'x'.repeat(300)}` });
    for (const content of ['application/json', `text/${pathSegment}`]) {
      await fetch(`${service.origin}/v1/nfse`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secondKey}`, 'content-type': content, [fieldName]: customerName },
        body: `{"description": "${planted.description}", ${customerName}`,
      });
    }
    for (let sent = 0; sent < 70; sent++) await ask('/v1/nfse', { key: secondKey, body: { [fieldName]: cpf } });
  };

  const loseTheDatabase = async (): Promise<void> => {
    for (let times = 0; times < 5; times++) {
      const requests = [60_001, 60_002, 60_003].map((amount) =>
        ask('/v1/nfse', { key: secondKey, body: bodyOf(amount + times * 10), idempotencyKey: planted.idempotencyKey }),
      );
      const reads = [...accepted].slice(0, 5).map((id) => ask(`/v1/nfse/${id}`));
      await Promise.all([...requests, ...reads, processes.operator.database.breakConnections()]);
    }
    await eventually(
      () => ask(`/v1/nfse/${[...accepted][0]}`),
      ({ response }) => response.status === 200,
    );
  };

  const secrets: string[] = Object.values(planted);

  it('tells none of the documents, names, texts, keys, tokens and passwords that went through', async () => {
    const masterKey = (await readFile(join(processes.operator.folder, 'master.key'), 'utf8')).trim();
    const text = outputs.join('\n');
    const found = [...secrets, processes.testKey, secondKey, masterKey].flatMap((secret) =>
      spellings(secret).filter((spelling) => text.toLowerCase().includes(spelling.toLowerCase())),
    );
    expect(found).toEqual([]);
  });

  it('is JSON, one object a line, on stdout alone', () => {
    expect(lines.length).toBeGreaterThan(200);
    for (const line of lines) expect(line).toMatchObject({ level: expect.any(Number), time: expect.any(String) });
    expect(service.output().stderr).toBe('');
  });

  it('names each request, and the invoice of a route or of a 202', () => {
    const requests = lines.filter(({ msg }) => msg === 'request');
    for (const request of requests) {
      expect(request).toMatchObject({ request_id: expect.stringMatching(/^req_/), duration_ms: expect.any(Number) });
    }
    const of = (route: string, status: number) =>
      requests.filter((request) => request.route === route && request.status === status);
    for (const request of [...of('/v1/nfse', 202), ...of('/v1/nfse/:id', 200), ...of('/v1/nfse/:id/cancel', 202)]) {
      expect([...accepted]).toContain(request.invoice_id);
    }
    expect(of('/v1/nfse', 202).length).toBeGreaterThanOrEqual(KINDS.length);
    expect(of('/v1/nfse', 429).length).toBeGreaterThan(0);
    expect(of('/v1/nfse/:id', 400).length).toBeGreaterThan(0);
    expect(of('/v1/nfse/:id', 400).every((request) => !('invoice_id' in request))).toBe(true);
  });

  it('names the invoice that a worker was at', () => {
    const notices = lines.filter(({ msg }) => msg === 'issuing');
    expect(notices.length).toBeGreaterThan(0);
    for (const { stream, invoice_id } of notices) {
      expect([...accepted]).toContain(invoice_id);
      expect(stream).toContain(String(invoice_id).slice('nfse_'.length));
    }
  });
});
