import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run.js';
import { allCommands } from '../../src/runtime/commands/main.js';
import { type Role, roles } from '../../src/runtime/config/config.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import type { Service } from '../../src/runtime/roles/parts.js';
import { startService } from '../../src/runtime/service.js';
import { startEventStoreDouble } from '../support/eventstore-double/double.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { runProgram } from '../support/harness/processes.js';
import { runningClock } from '../support/harness/running-clock.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { commandLinesOf } from '../support/operations-docs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { runLogger } from '../support/run-logs.js';
import { untilServed } from '../support/until-served.js';
import { CUSTOMER, liveClient } from './lost-key-client.js';

const PAGE = 'docs/operations/keys.md';

/** The command lines of the page's runbook, in their order. */
const runbook = (): readonly (readonly string[])[] => {
  const text = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8');
  const [, section = ''] = text.split('## No copy of the master key is left');
  const [block = ''] = /^ *```sh\n[\s\S]*?^ *```$/m.exec(section) ?? [];
  return commandLinesOf({ name: PAGE, text: block.replaceAll(/^ {3}/gm, '') }).map(({ words }) => words);
};

type Engines = { env: NodeJS.ProcessEnv; close(): Promise<void> };

const engines: readonly (readonly [string, () => Promise<Engines>])[] = [
  ['PostgreSQL', async () => ({ env: {}, close: async () => undefined })],
  [
    'EventStoreDB, the double',
    async () => {
      const double = await startEventStoreDouble();
      return { env: { EVENTSTORE_URL: double.url }, close: () => double.close() };
    },
  ],
];

const play = (open: () => Promise<Engines>): void => {
  let standing: Engines;
  let running: RunningService;
  let service: Service;
  const clock = runningClock();
  beforeAll(async () => {
    standing = await open();
    running = await startRunningService({ ...PROMPT, ...standing.env }, roles, clock);
    service = running.service;
  });
  afterAll(async () => {
    await service.stop();
    await running.close();
    await standing.close();
  });

  const start = async (withRoles: readonly Role[] = roles): Promise<void> => {
    service = await startService({ config: running.config, roles: withRoles, clock, logger: runLogger() });
    // A log outside of the database is compared with the guards first; until then requests get 503 with `Retry-After`.
    await eventually(
      () => fetch(`${service.opsUrl}/health/ready`),
      ({ ok }) => ok,
    );
  };
  /** Runs a command as an operator at a shell does, in a separate process. */
  const nfse = async (...words: readonly string[]): Promise<{ exit: number | null; output: string }> => {
    const { config } = running;
    const program = runProgram(['src/main.ts', ...words], {
      PORT: '0',
      OPS_PORT: '0',
      DATA_DIR: config.dataDir,
      DATABASE_URL: config.databaseUrl ?? '',
      MASTER_KEY_FILE: config.masterKeyFile,
      ...standing.env,
    });
    const { code } = await program.ended;
    const { stdout, stderr } = program.output();
    return { exit: code, output: `${stdout}${stderr}` };
  };
  /** As an operator beside the running service. */
  const operate = async (...words: readonly string[]): Promise<{ exit: number; output: string }> => {
    const output: string[] = [];
    const write = (text: string): void => void output.push(text);
    const session = sessionOver(service.engines, running.config, clock);
    const commands = allCommands({}, () => running.config);
    const exit = await runCommand(words, commands, async () => session, { out: write, err: write });
    return { exit, output: output.join('\n') };
  };
  /** The values of this test for the page's placeholders; the demo company has no certificate file. */
  const here = (words: readonly string[]): readonly string[] =>
    words[0] === 'certificate'
      ? ['certificate', 'issue-demo', DEMO_CNPJ]
      : words.map((word) => (word === '.data/master.key' ? running.config.masterKeyFile : word));

  it('costs what it sealed and nothing else: by the runbook every outcome becomes true, and no note comes twice', {
    timeout: 300_000,
  }, async () => {
    const { ask, shown, post, accept, becomes, issue, xmlOf, fault, ledger } = liveClient(
      () => service,
      running.keys.live,
    );
    const old = await issue(1_001);
    const xml = await xmlOf(old);
    const [canceled, kept] = [await issue(1_002), await issue(1_003)];
    for (const on of ['lookup', 'fetch', 'event_lookup']) await fault(on, 'http_503', 10_000);
    await fault('issue', 'lost_after_commit', 1);
    const unanswered = await accept(1_004);
    await fault('event', 'lost_after_commit', 1);
    expect((await ask(`/v1/nfse/${canceled}/cancel`, {})).status).toBe(202);
    await eventually(
      async () => [...(await ledger(1_004)), ...(await ledger(1_002)).filter((note) => note.canceled_at !== undefined)],
      (notes) => notes.length === 2,
    );
    await service.stop();
    await start(['api', 'projector']);
    const unsent = await accept(1_005);
    expect((await ask(`/v1/nfse/${kept}/cancel`, {})).status).toBe(202);
    const { created_at: acceptedAt } = await shown(unsent);

    await rm(running.config.masterKeyFile);
    const [makeKey = [], giveUp = [], ...others] = runbook();
    const asMessage = `nfse ${here(makeKey).join(' ')}, then nfse ${giveUp.slice(0, 3).join(' ')}`;
    expect(await nfse('serve')).toMatchObject({ exit: 2, output: expect.stringContaining('run nfse doctor') });
    expect(await nfse('doctor')).toMatchObject({ exit: 2, output: expect.stringContaining(asMessage) });
    expect(await nfse(...here(makeKey))).toMatchObject({ exit: 0 });
    // A process that runs has the lost key in memory: nothing is given up beside it.
    expect(await nfse(...here(giveUp))).toMatchObject({
      exit: 1,
      output: expect.stringContaining('stop them all first'),
    });
    await service.stop();
    expect(await nfse('serve')).toMatchObject({
      exit: 2,
      output: expect.stringContaining('nfse master-key give-up m1'),
    });
    const given = await nfse(...here(giveUp));
    expect(given).toMatchObject({ exit: 0, output: expect.stringContaining('m1 is given up, m2 seals from now on') });
    expect(given.output).toMatch(new RegExp(`1 certificate removed\n {2}${DEMO_CNPJ} `));
    expect(others).toHaveLength(1);
    for (const words of others) expect(await nfse(...here(words))).toMatchObject({ exit: 0 });
    await start();
    // A repetition changes nothing, so no process needs to stop for it.
    expect(await nfse(...here(giveUp))).toMatchObject({
      exit: 0,
      output: expect.stringMatching(/m1 was given up already, at \S+; m2 seals/),
    });

    // Earlier bodies cannot be compared any more: the same key gives no second invoice, and the refusal names the first one.
    const before = { 1001: old, 1002: canceled, 1003: kept, 1004: unanswered, 1005: unsent };
    for (const [amount, id] of Object.entries(before)) {
      const refused = await post(Number(amount));
      const { error } = (await refused.json()) as unknown as { error: { code: string; message: string } };
      expect([refused.status, error.code, error.message]).toEqual([
        409,
        'idempotency_key_reuse',
        expect.stringContaining(id),
      ]);
    }
    const again = await ask('/v1/nfse', { amount_in_cents: 2_005, description: 'x', reference: 'pedido-1005' });
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('nfse.reference_in_use')]);

    expect(await becomes(unanswered, 'issued')).toMatchObject({ failed_attempts: 0 });
    await becomes(canceled, 'canceled');
    clock.moveTo(String(acceptedAt), 901);
    expect(await becomes(unsent, 'failed')).toMatchObject({ error: { code: 'nfse.not_processed' } });
    clock.pass(3_600);
    const refused = await eventually(
      () => shown(kept),
      ({ cancellation }) => (cancellation as { status: string }).status === 'failed',
    );
    expect(refused).toMatchObject({ status: 'issued' });
    await becomes(await issue(1_006), 'issued');
    for (const amount of [1_001, 1_002, 1_003, 1_004, 1_006]) expect(await ledger(amount)).toHaveLength(1);
    expect(await ledger(1_005)).toEqual([]);

    // Reads answer, without what was sealed; the document comes from the authorizer, byte for byte.
    const body = await shown(old);
    expect(body).toMatchObject({ status: 'issued', amount_in_cents: 1_001, reference: 'pedido-1001' });
    for (const field of ['customer', 'description']) expect(body).not.toHaveProperty(field);
    expect((await xmlOf(old)).equals(xml)).toBe(true);
    for (const id of [old, canceled, unanswered])
      expect((await untilServed(() => ask(`/v1/nfse/${id}/pdf`))).status).toBe(200);

    const verified = await operate('audit', 'verify', '--json');
    expect(JSON.parse(verified.output)).toMatchObject({ ok: true, findings: [], given_up: [{ generation: 'm1' }] });
    const replayed = await operate('audit', 'replay', old, '--at', systemClock.now());
    expect(replayed).toMatchObject({ exit: 0, output: expect.stringContaining('"status": "issued"') });
    expect((await operate('privacy', 'report', CUSTOMER.document)).output).toMatch(/5 invoices whose key is gone/);
    expect((await operate('projections', 'rebuild', '--all')).exit).toBe(0);
    expect(await operate('events', 'show', 'audit-support')).toMatchObject({
      exit: 0,
      output: expect.stringContaining('MasterKeyGivenUp'),
    });
    const exported = join(running.config.dataDir, 'log.ndjson');
    expect((await operate('events', 'export', '--out', exported, '--reveal')).exit).toBe(0);
    expect(await operate('audit', 'verify', '--file', exported)).toMatchObject({ exit: 0 });
    const doctor = (await operate('doctor')).output
      .split('\n')
      .filter((line) => /master key|^\S+ +certificate/.test(line));
    expect(doctor.filter((line) => line.startsWith('BAD'))).toEqual([]);
    expect(doctor.join('\n')).toContain('m2 seals, m1 is given up');
  });
};

for (const [name, open] of engines) {
  describeWithPostgres(`a master key of which no copy is left, the log on ${name}`, () => play(open));
}
