import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { carryOver, type EmbeddedHarness, openEmbeddedHarness } from '../support/harness/embedded-service.js';

describe('a backup that is put back to see whether it works', () => {
  const key = { live: '' };
  let old: EmbeddedHarness;
  let copy: EmbeddedHarness;
  let id: string;
  beforeEach(async () => {
    [old, copy] = await Promise.all([openEmbeddedHarness(key), openEmbeddedHarness(key)]);
    const first = await old.start();
    await old.register(first);
    const made = await first.ask('/v1/nfse', { amount_in_cents: 1_001, description: 'Pedido 1001' });
    id = String(made.body.id);
    await eventually(
      async () => (await first.ask(`/v1/nfse/${id}`)).body,
      ({ status }) => status === 'issued',
    );
    await first.stop();
    // An invoice that waits in the backup, and that no copy may send.
    const waiting = await old.start(['api', 'projector']);
    expect((await waiting.ask('/v1/nfse', { amount_in_cents: 1_002, description: 'Pedido 1002' })).status).toBe(202);
    expect(await waiting.operate('backup', '--out', join(old.folder, 'backup'))).toMatchObject({ exit: 0 });
    await waiting.stop();
    await carryOver(old, copy, 'master.key');
    expect(await copy.restore(join(old.folder, 'backup'))).toMatchObject({ exit: 0 });
  });
  afterEach(async () => {
    await Promise.all([old.close(), copy.close()]);
  });

  it('is read without an authorizer: the roles that send do not run, and nobody is asked', async () => {
    const reading = await copy.start(['api', 'projector']);
    expect(await reading.ask(`/v1/nfse/${id}`)).toMatchObject({ status: 503 });
    const leftOut = ['--without-authorizer', 'live', '--without-authorizer', 'test'];
    const compared = await reading.operate('doctor', '--reconcile', ...leftOut);
    expect(compared).toMatchObject({ exit: 0, out: expect.stringContaining('issuing resumes within seconds') });
    expect(compared.out).not.toMatch(/(?<!nothing was )compared with the authorizer/);
    for (const mode of ['live', 'test'])
      expect(compared.out).toMatch(new RegExp(`${mode} +not compared: the simulator's ledger is not here`));
    const read = await eventually(
      () => reading.ask(`/v1/nfse/${id}`),
      ({ status }) => status === 200,
    );
    expect(read.body).toMatchObject({ status: 'issued' });
    expect(reading.service.simulator).toBeUndefined();
    const attempts = await reading.service.engines.log.readAll({ prefixes: ['nfseLive'], after: null, limit: 100 });
    expect(attempts.filter(({ type }) => type === 'IssuanceAttempted')).toHaveLength(1);
    await reading.stop();
  });

  it('without its simulator is answered by a new one, which refuses its certificate until it has another', async () => {
    const issuing = await copy.start();
    const refused = await issuing.operate('doctor', '--reconcile');
    expect(refused.exit).toBe(1);
    for (const mode of ['live', 'test'])
      expect(refused.out).toMatch(
        new RegExp(
          `${mode} +the authorizer refuses the certificate \\(status_403\\) -> nfse certificate put 12345678000195 `,
        ),
      );
    expect(refused.out).toContain('nfse certificate issue-demo 12345678000195');
    expect(refused.out).not.toContain('try again when it can be reached');
    await issuing.stop();
  });
});
