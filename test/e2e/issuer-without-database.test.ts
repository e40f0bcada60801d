import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DatabaseLine, openDatabaseLine } from '../support/database-line.js';
import { createCarefulClient } from '../support/harness/careful-client.js';
import { type CrashHarness, openCrashHarness } from '../support/harness/crash.js';
import { type Member, startRoles } from '../support/harness/members.js';
import { type ExternalSimulator, startExternalSimulator } from '../support/harness/simulator-process.js';
import { type NatsServer, startNats } from '../support/nats.js';
import { describeWith } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';

const WITHIN_MS = 120_000;
const AT_ONCE = 8;

describeWith('natsServer', 'two issuers', () => {
  describeWithPostgres('of which one has lost the database alone', () => {
    let simulator: ExternalSimulator;
    let nats: NatsServer;
    let harness: CrashHarness;
    let line: DatabaseLine;
    const members: Member[] = [];
    beforeAll(async () => {
      [simulator, nats] = await Promise.all([startExternalSimulator(), startNats()]);
      harness = await openCrashHarness(simulator, '912');
      line = await openDatabaseLine(harness.env.DATABASE_URL ?? '');
    });
    afterAll(async () => {
      await Promise.all(members.map(({ program }) => program.kill()));
      await Promise.all([harness?.close(), nats?.close(), simulator?.close(), line?.close()]);
    });

    const start = async (roles: string, env: Readonly<Record<string, string>> = {}): Promise<Member> => {
      const member = await startRoles(roles, {
        ...harness.env,
        NATS_URL: nats.url,
        AUTHORIZER_TIMEOUT_S: '20',
        ...env,
      });
      members.push(member);
      return member;
    };

    it('leave the work to the other one until the database answers again', async () => {
      const [api, healthy, cut] = await Promise.all([
        start('api,projector,relay,sweeper'),
        start('issuer'),
        start('issuer', { DATABASE_URL: line.connectionString }),
      ]);
      const client = createCarefulClient(api.origin, harness.key);
      let asked = 0;
      const issueSome = async (count: number): Promise<void> => {
        const ids = Array.from({ length: count }, async () => {
          asked += 1;
          const body = { amount_in_cents: 30_000 + asked, description: 'Serviço' };
          const answer = await client.issue(body, `cut-${asked}`);
          expect(answer.status).toBe(202);
          return answer.body.id ?? '';
        });
        for (const id of await Promise.all(ids))
          await client.pollUntil(id, WITHIN_MS, ({ status }) => status === 'issued');
      };
      const faults = (): readonly string[] =>
        cut.program.output().stdout.match(/.*"msg":"work failed and will be tried again".*/g) ?? [];
      line.silence();
      while (faults().length === 0) await issueSome(AT_ONCE);
      expect(faults()[0]).toMatch(/"code":"(?:ETIMEDOUT|ECONNRESET)"/);
      const { length } = faults();
      for (let round = 0; round < 3; round += 1) await issueSome(AT_ONCE);
      expect(faults()).toHaveLength(length);
      line.goOn();
      await healthy.program.kill();
      await issueSome(AT_ONCE);
    });
  });
});
