import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { eventually } from '../support/eventually.js';
import {
  openServiceProcesses,
  type ServiceProcess,
  type ServiceProcesses,
} from '../support/harness/service-processes.js';
import { postAnswerOf } from '../support/parallel-posts.js';
import { describeWithPostgres } from '../support/postgres.js';

const POSTS = 50;
const { cnpj } = demoCompany();

/** Without projector and issuer: only the log and the operator's command make a change effective in both processes. */
describeWithPostgres('two processes of the api, and nothing else,', () => {
  let service: ServiceProcesses;
  let both: readonly ServiceProcess[];
  beforeAll(async () => {
    service = await openServiceProcesses();
    both = await Promise.all([service.start('api'), service.start('api')]);
  });
  afterAll(() => service.close());

  const operate = async (...argv: string[]): Promise<void> => {
    expect(await service.operator.run(...argv)).toMatchObject({ exit: 0, err: '' });
  };
  const outcomesOf = (key?: string): Promise<readonly (number | string)[]> =>
    Promise.all(
      both.map(async (at) => {
        const { status, body } = await postAnswerOf(await at.ask('/v1/activities', key === undefined ? {} : { key }));
        return body.error?.code ?? status;
      }),
    );
  /**
   * Asks both before, so that what they remember is as young as it can be. How soon is soon is shown at a clock that the test
   * moves (reference-data.test.ts).
   */
  const holdsSoon = async (argv: readonly string[], wanted: number | string, key?: string): Promise<void> => {
    expect(await outcomesOf(key)).not.toContain(wanted);
    await operate(...argv);
    await eventually(
      () => outcomesOf(key),
      (outcomes) => outcomes.every((outcome) => outcome === wanted),
    );
  };

  it('show an invoice of the one at the other with every field of its 202, by id and by reference', async () => {
    const [first, second] = both;
    await Promise.all(
      Array.from({ length: POSTS }, async (_, index) => {
        const reference = `no-projector-${index}`;
        const body = { amount_in_cents: 50_000 + index, description: 'Serviço {{ano}}', reference };
        const accepted = await first?.client.issue(body);
        expect(accepted).toMatchObject({ status: 202, body: { status: 'queued', reference } });
        const [byId, byReference] = await Promise.all([
          second?.client.get(accepted?.body.id ?? ''),
          second?.client.findByReference(reference),
        ]);
        expect(byId).toEqual(accepted?.body);
        expect(byReference).toEqual(accepted?.body);
      }),
    );
  });

  it('obey the kill switch soon', async () => {
    await holdsSoon(['api', 'off', '--reason', 'teste'], 'service_unavailable');
    await holdsSoon(['api', 'on'], 200);
  });

  it('close and open for a company soon', async () => {
    await holdsSoon(['company', 'disable', cnpj], 'feature_not_enabled');
    await holdsSoon(['company', 'enable', cnpj], 200);
  });

  it('refuse a revoked key soon, and no other', async () => {
    const { id, key } = await service.newKey();
    expect(await outcomesOf(key)).toEqual([200, 200]);
    await holdsSoon(['key', 'revoke', id], 'unauthorized', key);
    expect(await outcomesOf()).toEqual([200, 200]);
  });
});
