import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { type Program, runProgram, startProgram } from '../support/harness/processes.js';
import { type NatsServer, startNats } from '../support/nats.js';
import { describeWith } from '../support/needs.js';
import { ENDS_WITHIN_MS } from '../support/patient.js';
import { describeWithPostgres } from '../support/postgres.js';
import { type SilentServer, startSilentServer } from '../support/silent-server.js';
import { openTcpLine } from '../support/tcp-line.js';

describeWithPostgres('a process whose NATS takes connections and stays silent', () => {
  let operator: Operator;
  const programs: Program[] = [];
  beforeAll(async () => {
    operator = await openOperator([]);
  });
  afterEach(async () => {
    for (const program of programs.splice(0)) await program.kill();
  });
  afterAll(() => operator.close());

  const environment = (natsUrl: string) => ({
    PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: operator.folder,
    DATABASE_URL: operator.database.connectionString,
    MASTER_KEY_FILE: join(operator.folder, 'master.key'),
    NATS_URL: natsUrl,
  });

  const endOf = async (program: Program): Promise<unknown> => {
    programs.push(program);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ENDS_WITHIN_MS);
    const tooLate = new Promise((resolve) => late.signal.addEventListener('abort', () => resolve('it does not end')));
    return await Promise.race([program.ended, tooLate]).finally(() => clearTimeout(timer));
  };

  const ends = (code: number) => ({ code, signal: null });

  let silent: SilentServer;
  beforeAll(async () => {
    silent = await startSilentServer();
  });
  afterAll(() => silent.close());

  it.each([
    ['parked', 'list'],
    ['invoice', 'waiting'],
    ['serve', '--role', 'relay'],
  ])('ends with exit 3: %s %s', async (...args) => {
    const program = runProgram(['src/main.ts', ...args], environment(`nats://127.0.0.1:${silent.port}`));
    expect(await endOf(program)).toEqual(ends(3));
    expect(program.complaint()).toContain('NATS_URL');
  });

  describeWith('natsServer', 'after it was there', () => {
    let nats: NatsServer;
    beforeAll(async () => {
      nats = await startNats();
    });
    afterAll(() => nats.close());

    it('ends when it is told to stop', async () => {
      const line = await openTcpLine('127.0.0.1', Number(new URL(nats.url).port));
      const env = environment(`nats://127.0.0.1:${line.port}`);
      const program = await startProgram(['src/main.ts', 'serve', '--role', 'relay'], env);
      programs.push(program);
      await line.close();
      const silentThere = await startSilentServer({ port: line.port });
      try {
        await expect.poll(() => silentThere.taken()).toBeGreaterThan(1);
        program.signal('SIGTERM');
        expect(await endOf(program)).toEqual(ends(0));
        expect(program.output().stdout).toContain('"msg":"stopped"');
      } finally {
        await silentThere.close();
      }
    });
  });
});
