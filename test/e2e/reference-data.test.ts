import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { companyCommands } from '../../src/cli/commands/company.js';
import { keyCommands } from '../../src/cli/commands/key.js';
import { runCommand } from '../../src/cli/run.js';
import { referenceCommands } from '../../src/runtime/commands/main.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { movableClock } from '../support/harness/event-store.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';

type Answer = { status: number; headers: Headers; body: Record<string, unknown> & { error?: { code: string } } };

const RIO = '3304557';
const CUSTOMER = '11222333000181';
const HEADER = 'cnae\tservice_code\tnbs\tdescription\tis_default\tis_blocked';
/** Seconds within which a change by an operator takes effect (docs/cli.md). */
const WITHIN_S = 2;

const commands = [...companyCommands, ...keyCommands, ...referenceCommands];

/** Without projector and issuer: the operator's command itself makes the change effective. */
describeWithPostgres('what operators change, with the projector stopped', () => {
  let running: RunningService;
  let folder: string;
  let amount = 1_000;
  const clock = movableClock(systemClock.now());

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-operators-'));
    running = await startRunningService({}, ['api'], clock);
  });
  afterAll(async () => {
    await running.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** As an operator, so long ago that it has to hold. */
  const operate = async (...argv: string[]): Promise<void> => {
    const session = sessionOver(running.service.engines, running.config, clock);
    const errors: string[] = [];
    const terminal = { out: () => undefined, err: (text: string) => void errors.push(text) };
    const exit = await runCommand(argv, commands, async () => session, terminal);
    expect(errors.join('\n')).toBe('');
    expect(exit).toBe(0);
    clock.pass(WITHIN_S);
  };
  const importLines = async (...rows: string[]) => {
    await writeFile(join(folder, 'lines.tsv'), [HEADER, ...rows].join('\n'));
    await operate('catalog', 'import', join(folder, 'lines.tsv'));
  };
  const call = (mode: 'live' | 'test', method: string, path: string, body?: object): Promise<Answer> =>
    running.call(mode, method, path, body);
  const issue = (mode: 'live' | 'test', fields: object = {}) => {
    amount += 1;
    return call(mode, 'POST', '/v1/nfse', { amount_in_cents: amount, description: 'Serviço', ...fields });
  };
  const codeOf = ({ status, body }: Answer): string | number => body.error?.code ?? status;
  const answers = async (mode: 'live' | 'test', fields: object, wanted: string | number) =>
    expect(codeOf(await issue(mode, fields))).toBe(wanted);
  const activities = async (): Promise<readonly { cnae: string; service_code: string }[]> =>
    (await call('test', 'GET', '/v1/activities')).body.data as { cnae: string; service_code: string }[];

  it('a municipality that requires a customer refuses an invoice without one', async () => {
    expect((await issue('test')).status).toBe(202);
    await operate('municipality', 'set', RIO, '--requires-customer', 'on');
    await answers('test', {}, 'nfse.customer_required');
    expect(codeOf(await issue('live'))).toBe('nfse.customer_required');
    expect((await issue('live', { customer: { document: CUSTOMER, name: 'CLIENTE' } })).status).toBe(202);
    await operate('municipality', 'set', RIO, '--requires-customer', 'off');
    await answers('test', {}, 202);
  });

  it('a municipality that requires a registration refuses in test mode only', async () => {
    await operate('municipality', 'set', RIO, '--requires-registration', 'on');
    await answers('test', {}, 'nfse.municipal_registration_missing');
    expect((await issue('live')).status).toBe(202);
    await operate('municipality', 'set', RIO, '--requires-registration', 'off');
    await answers('test', {}, 202);
  });

  describe('catalogue lines', () => {
    it('without a default need a service code', async () => {
      await importLines('9602501\t060101\t126022000\tCabelo\tfalse\tfalse');
      await answers('test', { cnae: '9602501' }, 'nfse.cnae_without_default');
      expect((await issue('test', { cnae: '9602501', service_code: '060101' })).status).toBe(202);
    });

    it('that are blocked are not listed and refused', async () => {
      await importLines(
        '9602501\t060101\t126022000\tCabelo\ttrue\ttrue',
        '9602501\t060201\t126022000\tEstética\tfalse\tfalse',
      );
      await answers('test', { cnae: '9602501' }, 'nfse.cnae_not_allowed');
      const blocked = await issue('test', { cnae: '9602501', service_code: '060101' });
      expect(codeOf(blocked)).toBe('nfse.service_code_not_allowed');
      const listed = (await activities()).filter(({ cnae }) => cnae === '9602501');
      expect(listed.map(({ service_code }) => service_code)).toEqual(['060201']);
      expect((await issue('test', { cnae: '9602501', service_code: '060201' })).status).toBe(202);
    });

    it('show the gaps of the registry: no NBS in both modes, an unknown one in test mode', async () => {
      await importLines('9602501\t060101\t\tCabelo\ttrue\tfalse');
      await answers('test', { cnae: '9602501' }, 'nfse.cnae_missing_nbs');
      expect(codeOf(await issue('live', { cnae: '9602501' }))).toBe('nfse.cnae_missing_nbs');
      await importLines('9602501\t060101\t000000001\tCabelo\ttrue\tfalse');
      await answers('test', { cnae: '9602501' }, 'nfse.nbs_invalid');
      expect((await issue('live', { cnae: '9602501' })).status).toBe(202);
    });
  });

  it('the local registry names the customer', async () => {
    const asked = async () => {
      const { body } = await issue('test', { customer: { document: CUSTOMER, name: 'NOME ENVIADO' } });
      return (body.customer as { name?: string } | undefined)?.name;
    };
    expect(await asked()).toBe('NOME ENVIADO');
    await writeFile(
      join(folder, 'entry.json'),
      JSON.stringify({ cnpj: CUSTOMER, legal_name: 'NOME DO CADASTRO LTDA' }),
    );
    await operate('registry', 'put', join(folder, 'entry.json'));
    expect(await asked()).toBe('NOME DO CADASTRO LTDA');
  });

  it('the kill switch answers every route before the credential is looked at', async () => {
    const ask = async () => {
      const response = await fetch(`${running.service.url}/v1/activities`);
      return { status: response.status, headers: response.headers, body: (await response.json()) as object };
    };
    expect((await ask()).status).toBe(401);
    await operate('api', 'off', '--reason', 'teste');
    const off = await ask();
    expect(off.status).toBe(503);
    expect(off.body).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(JSON.stringify(off.body)).not.toContain('livemode');
    expect(Number(off.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await issue('test')).status).toBe(503);
    await operate('api', 'on');
    expect((await ask()).status).toBe(401);
  });

  it('a company is closed and opened', async () => {
    const outcome = async () => codeOf(await call('test', 'GET', '/v1/activities'));
    expect(await outcome()).toBe(200);
    await operate('company', 'disable', DEMO_CNPJ);
    expect(await outcome()).toBe('feature_not_enabled');
    await operate('company', 'enable', DEMO_CNPJ);
    expect(await outcome()).toBe(200);
  });

  it('a revoked key opens nothing any more, and every other one does', async () => {
    const outcomes = async () =>
      (await Promise.all((['live', 'test'] as const).map((mode) => call(mode, 'GET', '/v1/activities')))).map(codeOf);
    expect(await outcomes()).toEqual([200, 200]);
    const { rows } = await running.service.engines.pool.query<{ id: string }>(
      `select key_id as id from read.credentials where mode = 'test'`,
    );
    await operate('key', 'revoke', rows[0]?.id ?? '');
    expect(await outcomes()).toEqual([200, 'unauthorized']);
  });
});
