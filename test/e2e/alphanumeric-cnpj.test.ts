import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { runCommand } from '../../src/cli/run.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { makeDemoCompany } from '../../src/runtime/commands/first-start.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';
import { schemaFaults } from '../support/schema.js';
import { untilServed } from '../support/until-served.js';
import { verifySignature } from '../support/verify-signature.js';

/** The Receita's own example of a CNPJ with letters. */
const CNPJ = '12ABC34501DE35';

const REQUEST = { amount_in_cents: 47_300, description: 'Consultoria em tecnologia', reference: 'letras-1' };

type Body = Record<string, unknown> & {
  id: string;
  status: string;
  access_key: string;
  links: { pdf: string; xml: string };
  cancellation?: { status: string };
};

describeWithPostgres('an invoice of a company whose CNPJ has letters', () => {
  let folder: string;
  let running: RunningService;
  let authorization: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-letters-'));
    running = await startRunningService(PROMPT);
    const company = { ...demoCompany(), cnpj: CNPJ };
    const [live] = await makeDemoCompany(running.service, running.config, systemClock, ['live'], company);
    authorization = `Bearer ${live?.key}`;
  });
  afterAll(async () => {
    await running.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = (method: string, path: string, body?: object, headers: object = {}) =>
    running.call<Body>('live', method, path, body, { authorization, ...headers });
  const settled = (id: string) =>
    eventually(
      async () => (await call('GET', `/v1/nfse/${id}`)).body,
      ({ status, cancellation }) => !['queued', 'processing'].includes(status) && cancellation?.status !== 'pending',
    );
  const download = async (link: string) =>
    Buffer.from(await (await untilServed(() => fetch(link, { headers: { authorization } }))).arrayBuffer());
  const operate = async (...argv: string[]) => {
    const session = sessionOver(running.service.engines, running.config, systemClock);
    const output: string[] = [];
    const terminal = { out: (text: string) => void output.push(text), err: () => undefined };
    const exit = await runCommand(
      [...argv, '--json'],
      [...auditCommands(), ...eventCommands],
      async () => session,
      terminal,
    );
    return { exit, json: JSON.parse(output.join('\n')) as Record<string, unknown> };
  };

  it('lives as any other: issued, looked up, printed, canceled, replayed, exported, verified', async () => {
    // The first answer is lost, so that a look-up has to find the note.
    await running.control('POST', '/_control/faults', {
      on: 'issue',
      kind: 'lost_after_commit',
      times: 1,
      match: { cnpj: CNPJ },
    });
    const key = { 'Idempotency-Key': 'letras-1' };
    const accepted = await call('POST', '/v1/nfse', REQUEST, key);
    expect(accepted.status).toBe(202);
    const issued = await settled(accepted.body.id);
    expect(issued).toMatchObject({
      status: 'issued',
      access_key: expect.stringMatching(/^\d{9}12ABC34501DE35\d{27}$/),
    });
    const xml = await download(issued.links.xml);
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    expect(verifySignature(xml, 'infNFSe').ok).toBe(true);
    expect((await download(issued.links.pdf)).subarray(0, 5).toString()).toBe('%PDF-');
    // and the same request again is the same invoice
    expect((await call('POST', '/v1/nfse', REQUEST, key)).body.id).toBe(issued.id);

    // The answer to the cancellation is lost too.
    await running.control('POST', '/_control/faults', {
      on: 'event',
      kind: 'lost_after_commit',
      times: 1,
      match: { cnpj: CNPJ },
    });
    expect((await call('POST', `/v1/nfse/${issued.id}/cancel`, {})).status).toBe(202);
    expect(await settled(issued.id)).toMatchObject({ status: 'canceled', cancellation: { status: 'succeeded' } });
    const notes = (await running.control('GET', '/_control/ledger')) as Record<string, unknown>[];
    expect(notes.filter(({ access_key }) => access_key === issued.access_key)).toMatchObject([
      { canceled_at: expect.any(String) },
    ]);

    // and operators replay, export and verify it
    const replayed = await operate('audit', 'replay', issued.id, '--at', systemClock.now());
    expect(replayed).toMatchObject({
      exit: 0,
      json: { invoice: { status: 'canceled', access_key: issued.access_key } },
    });
    const file = join(folder, 'log.ndjson');
    expect(await operate('events', 'export', '--company', CNPJ, '--out', file)).toMatchObject({ exit: 0 });
    expect(await operate('audit', 'verify', '--file', file)).toMatchObject({ exit: 0, json: { ok: true } });
    const verified = await operate('audit', 'verify', '--documents', '--skip-drift');
    expect(verified).toMatchObject({ exit: 0, json: { ok: true, findings: [] } });
  });
});
