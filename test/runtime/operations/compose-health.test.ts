import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeEngineSecrets } from '../../../src/runtime/commands/engine-secrets.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { composeService, serviceText } from '../../support/compose.js';
import { type Program, startProgram } from '../../support/harness/processes.js';
import { type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { describeWithPostgres } from '../../support/postgres.js';
import { becomesReady } from '../../support/readiness.js';

/** The health check's own command, at another port; its exit code. */
const check = async (name: string, port: string): Promise<number | null> => {
  const [kind, command = '', ...args] = serviceText(name).healthcheck?.test ?? [];
  expect([kind, command]).toEqual(['CMD', 'node']);
  const own = composeService(name).environment;
  const asked = own.OPS_PORT ?? own.SIMULATOR_CONTROL_PORT ?? '';
  const aimed = args.map((text) => text.replace(`127.0.0.1:${asked}/`, `127.0.0.1:${port}/`));
  expect(aimed).not.toEqual(args);
  const child = spawn(process.execPath, aimed, { stdio: 'ignore' });
  return await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
};

describeWithPostgres("compose.yaml's health check of a role", () => {
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService({}, ['api', 'projector']);
  });
  afterAll(() => running.close());

  it('is good while the process is ready, and bad when it lags or is gone', async () => {
    const { port } = new URL(running.service.opsUrl);
    await becomesReady(running.service.opsUrl);
    await expect.poll(() => check('api', port)).toBe(0);
    await running.service.stop();
    expect(await check('api', port)).toBe(1);
  });
});

describe('the simulator of compose.yaml', () => {
  let home: string;
  let program: Program & { ready: { simulator: { test: string }; simulator_control_url: string } };
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'nfse-compose-'));
    await makeEngineSecrets(join(home, 'secrets'), join(home, 'simulator'), systemClock);
    const { command, environment } = composeService('simulator');
    const here = { DATA_DIR: home, SIMULATOR_PORT: '0', SIMULATOR_CONTROL_PORT: '0' };
    program = await startProgram(['src/main.ts', ...command], { ...environment, ...here });
  });
  afterAll(async () => {
    await program.kill();
    await rm(home, { recursive: true, force: true });
  });

  it('is called by the name of its machine, with the certificate that the secrets trust', async () => {
    const ca = await readFile(join(home, 'secrets/engines/simulator-ca.pem'), 'utf8');
    const url = new URL(program.ready.simulator.test);
    const { pathname } = new URL(composeService('issuer').environment.AUTHORIZER_TEST_URL ?? '');
    expect(pathname).toBe(url.pathname);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: url.port, path: `${pathname}/dps/x`, servername: hostname(), ca };
      request(options, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    // Every call without a client certificate is refused after the handshake.
    expect(status).toBe(403);
  });

  it('is healthy while it runs', async () => {
    const { port } = new URL(program.ready.simulator_control_url);
    expect(await check('simulator', port)).toBe(0);
    await program.stop();
    expect(await check('simulator', port)).toBe(1);
  });
});
