import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuthorizer } from '../../src/adapters/authorizer/client.js';
import { createDocumentSigner } from '../../src/adapters/authorizer/document-signer.js';
import { sha256Hex } from '../../src/app/event-store/hashes.js';
import { runCommand } from '../../src/cli/run.js';
import { companyStream, dpsStream } from '../../src/domain/common/ids.js';
import type { Cents } from '../../src/domain/common/money.js';
import { addSeconds, brasiliaDate } from '../../src/domain/common/time.js';
import { buildDps } from '../../src/domain/dps/build-dps.js';
import { hashText } from '../../src/domain/log/hash-text.js';
import { allCommands } from '../../src/runtime/commands/main.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { accepted } from '../support/fixture/invoice.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';
import { runLogger } from '../support/run-logs.js';

type Body = Record<string, unknown> & { id: string; status: string; access_key?: string };
type Note = { access_key: string; amount_in_cents: number };

describeWithPostgres('another program of the company that issues with the series of the service', () => {
  let running: RunningService;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-other-'));
    running = await startRunningService(PROMPT);
  });
  afterAll(async () => {
    await running.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The other program sends a DPS of its own sale under this number, with the certificate of the company. */
  const sendElsewhere = async (number: number, amountInCents: number): Promise<void> => {
    const { engines, simulator } = running.service;
    if (simulator === undefined) throw new Error('there is no simulator');
    const company = await engines.readModel.company(DEMO_CNPJ);
    const certificate = await engines.vault.open(DEMO_CNPJ, company?.certificate?.certificateId ?? '');
    if (company === undefined || certificate === undefined) throw new Error('the demo company has no certificate');
    const now = systemClock.now();
    const sale = accepted({
      companyId: DEMO_CNPJ,
      amountInCents: amountInCents as Cents,
      acceptedAt: now,
      competence: brasiliaDate(addSeconds(now, -60)),
    });
    if (sale.type !== 'InvoiceAccepted') throw new Error('no sale');
    const { series } = company.registration.dps.live;
    const dps = buildDps({ mode: 'live', series, number, accepted: sale.data, currencyCode: () => undefined });
    const { bytes } = await createDocumentSigner().signDps(dps.xml, certificate);
    const client = createAuthorizer({
      address: simulator.urls.live,
      trustRootsPem: [simulator.caPem],
      connectTimeoutMs: 10_000,
      timeoutMs: 10_000,
      now: systemClock.now,
      certificateOf: async () => certificate,
    });
    const answer = await client.sendDps({ mode: 'live', companyId: DEMO_CNPJ }, bytes, addSeconds(now, 60));
    client.close();
    expect(answer).toMatchObject({ kind: 'done' });
  };
  const accept = async (amount: number): Promise<string> =>
    (await running.call<Body>('live', 'POST', '/v1/nfse', { amount_in_cents: amount, description: `Venda ${amount}` }))
      .body.id;
  const read = async (id: string): Promise<Body> => (await running.call<Body>('live', 'GET', `/v1/nfse/${id}`)).body;
  const operate = async (...argv: readonly string[]): Promise<{ exit: number; out: string }> => {
    const runner = createRunner(() => undefined);
    const session = sessionOver(running.service.engines, running.config, systemClock, { logger: runLogger(), runner });
    const out: string[] = [];
    const write = (text: string): void => void out.push(text);
    const commands = allCommands({}, () => running.config);
    const exit = await runCommand(argv, commands, async () => session, { out: write, err: write });
    await runner.stop();
    return { exit, out: out.join('\n') };
  };
  const notes = async (): Promise<readonly Note[]> => (await running.control('GET', '/_control/ledger')) as Note[];

  it('stops the series, which doctor, the list of waiting work and the console tell with the way out, and no sale is lost or made twice', async () => {
    await sendElsewhere(1, 77_700);
    const [other] = await notes();
    const met = await accept(88_800);
    const timeline = await eventually(
      () => operate('invoice', 'timeline', met),
      ({ out }) => out.includes('NumberConflictFound'),
    );
    expect(timeline.out).toContain(other?.access_key);
    const waits = await accept(99_900);
    expect(await read(met)).not.toHaveProperty('access_key');
    const advice = 'nfse company put FILE.json with a dps.live.next_number after every note of the series';
    const doctor = await eventually(
      () => operate('doctor'),
      ({ out }) => /BAD +numbers .* series 1 is stopped/.test(out),
    );
    expect(doctor.out).toContain(advice);
    for (const command of [
      ['invoice', 'waiting'],
      ['invoice', 'timeline', waits],
    ])
      expect((await operate(...command)).out).toContain(advice);
    const page = await (await fetch(`${running.service.opsUrl}/console?lang=en`)).text();
    expect(page).toMatch(/Series 1 of CNPJ 12345678000195 in live mode sends nothing since/);
    expect(page).toContain('a company file whose next number (dps) is greater than that of every note of the series.');

    const { out } = await operate('company', 'show', DEMO_CNPJ, '--file');
    const file = JSON.parse(out) as { dps: { live: { next_number: number } } };
    file.dps.live.next_number = 50;
    const path = join(folder, 'company.json');
    await writeFile(path, JSON.stringify(file));
    expect(await operate('company', 'put', path)).toMatchObject({ exit: 0 });
    for (const id of [met, waits])
      await eventually(
        () => read(id),
        ({ status }) => status === 'issued',
      );
    expect((await operate('doctor')).out).not.toMatch(/BAD +numbers/);
    const amounts = (await notes()).map(({ amount_in_cents }) => amount_in_cents);
    expect(amounts.toSorted()).toEqual([77_700, 88_800, 99_900]);
    expect((await read(met)).access_key).not.toBe(other?.access_key);
  });

  /** Another program appends to a stream of ours what no version of the service knows. */
  const write = async (stream: string): Promise<void> => {
    const { log } = running.service.engines;
    const [last] = await log.read(stream, { direction: 'backwards', limit: 1 });
    if (last === undefined) throw new Error(`there is no stream ${stream}`);
    const revision = last.revision + 1;
    const metadata = { prevHash: last.metadata.hash ?? '', schemaVersion: '1', recordedAt: systemClock.now() };
    const event = { id: randomUUID(), type: 'SomethingElse', data: {}, metadata };
    const text = hashText(stream, revision, event);
    const hashed = { ...event, metadata: { ...metadata, hash: sha256Hex(text) }, hashText: text };
    await log.append(stream, { kind: 'exact', revision: last.revision }, [hashed]);
  };
  const UNREADABLE = /event type SomethingElse, schema version 1, at (\S+): newer than this program/;

  it('halts the series by an event that the service cannot read, and another series goes on', async () => {
    const stream = dpsStream('live', DEMO_CNPJ, '1');
    await write(stream);
    const waits = await accept(111_100);
    const doctor = await eventually(
      () => operate('doctor'),
      ({ out }) => /BAD +numbers .* series 1 sends nothing/.test(out),
    );
    expect(UNREADABLE.exec(doctor.out)?.[1]).toMatch(new RegExp(`^${stream}@\\d+$`));
    expect(doctor.out).toContain('nfse company put FILE.json with another dps.live.series');
    expect((await operate('invoice', 'timeline', waits)).out).toMatch(/held back: series 1 sends nothing/);
    const page = await fetch(`${running.service.opsUrl}/console/invoices/${waits}?lang=en`);
    expect(await page.text()).toMatch(UNREADABLE);
    expect(await read(waits)).toMatchObject({ status: 'queued' });

    const { out } = await operate('company', 'show', DEMO_CNPJ, '--file');
    const file = JSON.parse(out) as { dps: { live: object } };
    const path = join(folder, 'other-series.json');
    await writeFile(path, JSON.stringify({ ...file, dps: { ...file.dps, live: { series: '2', next_number: 1 } } }));
    const put = await operate('company', 'put', path);
    expect(put.exit, put.out).toBe(0);
    await eventually(
      () => read(waits),
      ({ status }) => status === 'issued',
    );
    expect((await operate('doctor')).out).not.toMatch(/BAD +numbers/);
  });

  it('leaves doctor to tell which event of a company it cannot read', { timeout: 120_000 }, async () => {
    await write(companyStream(DEMO_CNPJ));
    const { out } = await operate('doctor');
    expect(out).toMatch(/BAD +clock live .*unknown: the opening of a certificate could not be recorded/);
    expect(UNREADABLE.exec(out)?.[1]).toMatch(new RegExp(`^company-${DEMO_CNPJ}@\\d+$`));
  });
});
