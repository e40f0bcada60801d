import { randomUUID } from 'node:crypto';
import { copyFile, rename } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { masterKeyCommands } from '../../src/cli/commands/master-key.js';
import { runCommand } from '../../src/cli/run.js';
import type { Session } from '../../src/cli/session.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { openSession } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { accepted, attempted, authorized } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { addKey } from '../support/harness/key-file.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';
import { becomesNotReady, becomesReady } from '../support/readiness.js';
import { untilServed } from '../support/until-served.js';

const CUSTOMER = { document: '11222333000181', name: 'CLIENTE LTDA' };

describeWithPostgres('a service that runs on while its keys are renewed', () => {
  let running: RunningService;
  let session: Session;
  const runner = createRunner(() => undefined);
  beforeAll(async () => {
    running = await startRunningService();
    session = await openSession(running.config, systemClock, createLogger('silent', 'stderr'), runner);
  });
  afterAll(async () => {
    await runner.stop();
    await running.close();
  });

  const operate = async (...argv: string[]): Promise<string> => {
    const output: string[] = [];
    const terminal = { out: (text: string) => void output.push(text), err: (text: string) => void output.push(text) };
    const commands = [...certificateCommands, ...masterKeyCommands];
    expect([await runCommand(argv, commands, async () => session, terminal), output.join()]).toEqual([
      0,
      output.join(),
    ]);
    return output.join('\n');
  };

  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${running.service.url}${path}`, {
      headers: { authorization: `Bearer ${running.keys.live}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };

  let amount = 1_000;
  const issue = async (): Promise<string> => {
    amount += 1;
    const accepted = await ask('/v1/nfse', { amount_in_cents: amount, description: 'Serviço', customer: CUSTOMER });
    const { id } = JSON.parse(accepted.text) as { id: string };
    await eventually(
      async () => JSON.parse((await ask(`/v1/nfse/${id}`)).text) as { status: string },
      ({ status }) => status === 'issued',
    );
    return id;
  };

  const currentCertificate = async () => {
    const id = (await session.readModel.company(DEMO_CNPJ))?.certificate?.certificateId ?? '';
    const pem = (await session.vault.open(DEMO_CNPJ, id))?.certificatePem ?? '';
    return pem.replaceAll(/-----[^-]+-----|\s/g, '');
  };

  it('signs with a renewed certificate at the next send', async () => {
    const before = await currentCertificate();
    const first = await issue();
    expect((await ask(`/v1/nfse/${first}/xml`)).text).toContain(before);
    await operate('certificate', 'issue-demo', DEMO_CNPJ);
    const renewed = await currentCertificate();
    expect(renewed).not.toBe(before);
    // The registration is kept for a second.
    const xml = await eventually(
      async () => (await ask(`/v1/nfse/${await issue()}/xml`)).text,
      (text) => text.includes(renewed),
    );
    expect(xml).not.toContain(before);
  });

  it('seals with a new master key within seconds, and goes on opening what the old one sealed', async () => {
    const before = await issue();
    const link = (JSON.parse((await ask(`/v1/nfse/${before}`)).text) as { links: { pdf: string } }).links.pdf;
    expect(await addKey(running.config.masterKeyFile)).toBe('m2');
    expect(await operate('master-key', 'status')).toContain('m2');
    expect(await operate('master-key', 'rotate')).toMatch(/^m2 seals from now on; [1-9]\d* certificates and keys/);
    const generationsOf = async (id: string): Promise<readonly string[]> => {
      const events = await session.log.read(`nfseLive-${DEMO_CNPJ}_${id.replace('nfse_', '')}`);
      return [
        ...new Set(
          [...JSON.stringify(events.map(({ data }) => data)).matchAll(/sealed:1:(\w+):/g)].flatMap(([, g]) => g ?? []),
        ),
      ];
    };
    const after = await eventually(
      async () => await generationsOf(await issue()),
      (generations) => generations.length === 1 && generations[0] === 'm2',
    );
    expect(after).toEqual(['m2']);
    expect(await generationsOf(before)).toEqual(['m1']);
    expect(JSON.parse((await ask(`/v1/nfse/${before}`)).text)).toMatchObject({ customer: CUSTOMER });
    expect((await ask(`/v1/nfse/${before}/xml`)).status).toBe(200);
    expect((await untilServed(() => fetch(link))).status).toBe(200);
  });

  it('answers 503 for what a key seals that its file lacks, and 200 once the file has it, without a restart', async () => {
    const ahead = createRunner(() => undefined);
    const masterKeyFile = `${running.config.masterKeyFile}.elsewhere`;
    await copyFile(running.config.masterKeyFile, masterKeyFile);
    const newest = await addKey(masterKeyFile);
    const logger = createLogger('silent', 'stderr');
    const elsewhere = await openSession({ ...running.config, masterKeyFile }, systemClock, logger, ahead);
    expect(await elsewhere.masterKey.rotate('ana', () => undefined)).toMatchObject({ done: { generation: newest } });
    const invoiceId = randomUUID();
    const events = [accepted({ invoiceId, customer: { type: 'br', ...CUSTOMER } }), attempted(1, 1), authorized(1, 2)];
    await appendTo(elsewhere.store, invoiceStream('live', DEMO_CNPJ, invoiceId), events, systemClock.now());
    await ahead.stop();
    const shown = () => ask(`/v1/nfse/nfse_${invoiceId}`);
    expect(await shown()).toMatchObject({ status: 503, text: expect.stringContaining('service_unavailable') });
    await becomesNotReady(running.service.opsUrl, /^certificate_vault: /);
    await rename(masterKeyFile, running.config.masterKeyFile);
    const { status, text } = await shown();
    expect([status, JSON.parse(text)]).toMatchObject([200, { status: 'issued', customer: CUSTOMER }]);
    await becomesReady(running.service.opsUrl);
  });
});
