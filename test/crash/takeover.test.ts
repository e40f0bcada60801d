import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoiceStream, parseInvoiceId } from '../../src/domain/common/ids.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { createCarefulClient, type SeenInvoice, waitFor } from '../support/harness/careful-client.js';
import { type CrashHarness, openCrashHarness } from '../support/harness/crash.js';
import { type Member, startRoles } from '../support/harness/members.js';
import { type ExternalSimulator, startExternalSimulator } from '../support/harness/simulator-process.js';
import { type NatsServer, startNats } from '../support/nats.js';
import { describeWith } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { becomesReady, readiness } from '../support/readiness.js';
import { expectNoDoubles, expectSoundLog } from './aftermath.js';

/** The tasks that one process leads while others wait for the lock. */
const LED = 'projector,relay,sweeper';
/** The lease is 15 s. */
const WITHIN_MS = 90_000;

describeWith('natsServer', 'processes that lead, and others that stand by', () => {
  describeWithPostgres('over PostgreSQL and NATS', () => {
    let simulator: ExternalSimulator;
    let nats: NatsServer;
    let harness: CrashHarness;
    let front: Member;
    let leader: Member;
    let standBy: Member;
    const members: Member[] = [];
    beforeAll(async () => {
      [simulator, nats] = await Promise.all([startExternalSimulator(), startNats()]);
      harness = await openCrashHarness(simulator, '920');
      [front, leader] = await Promise.all([start('api,issuer'), start(LED)]);
      await issued(await accepted(30_000));
      standBy = await start(LED);
    });
    afterAll(async () => {
      await Promise.all(members.map(({ program }) => program.kill()));
      await Promise.all([harness?.close(), nats?.close(), simulator?.close()]);
    });

    const start = async (roles: string): Promise<Member> => {
      const member = await startRoles(roles, { ...harness.env, NATS_URL: nats.url });
      members.push(member);
      return member;
    };

    const client = () => createCarefulClient(front.origin, harness.key);

    const accepted = async (amountInCents: number): Promise<string> => {
      const body = { amount_in_cents: amountInCents, description: 'Serviço' };
      const answer = await client().issue(body, `takeover-${amountInCents}`);
      expect(answer.status).toBe(202);
      return answer.body.id ?? '';
    };

    const streamOf = (id: string) => invoiceStream('test', demoCompany().cnpj, parseInvoiceId(id) ?? '');

    const rowOf = (id: string) => harness.engines.readModel.invoice(streamOf(id));

    /** The relay has put its work item, and the projector has written its row: the process that leads now does both. */
    const issued = async (id: string): Promise<SeenInvoice> => {
      const seen = await client().pollUntil(id, WITHIN_MS, ({ status }) => status === 'issued');
      // A slow send is looked up, which makes more than three events.
      const last = await harness.engines.log.lastEvent(streamOf(id));
      await waitFor('its row', WITHIN_MS, async () =>
        (await rowOf(id))?.revision === last?.revision ? true : undefined,
      );
      return seen;
    };

    it('the next leads when the first is killed, and what was accepted meanwhile is read and issued', async () => {
      await leader.program.kill();
      const id = await accepted(30_001);
      expect((await client().find(id))?.amount_in_cents).toBe(30_001);
      await issued(id);
      leader = standBy;
      standBy = await start(LED);
    });

    describe('the first is frozen, and its connections stand', () => {
      it('reads are right at once, probes tell the lag, and the next leads when the lease is over', async () => {
        leader.program.signal('SIGSTOP');
        const id = await accepted(30_002);
        expect(await rowOf(id)).toBeUndefined();
        expect((await client().find(id))?.amount_in_cents).toBe(30_002);
        await waitFor('the lag', WITHIN_MS, async () =>
          ((await readiness(front.opsUrl)).body.lag_s ?? 0) > 0 ? true : undefined,
        );
        await issued(id);
        await waitFor('no lag', WITHIN_MS, async () =>
          (await readiness(front.opsUrl)).body.lag_s === 0 ? true : undefined,
        );
      });

      it('thawed, it does no harm, stands by, and leads again when it is needed', async () => {
        leader.program.signal('SIGCONT');
        await becomesReady(leader.opsUrl);
        await issued(await accepted(30_003));
        await standBy.program.kill();
        await issued(await accepted(30_004));
        expect(leader.program.output().stdout).not.toContain('"level":60');
        await expectSoundLog(harness);
        await expectNoDoubles(simulator);
        expect(await leader.program.stop(), leader.program.complaint()).toEqual({ code: 0, signal: null });
      });
    });
  });
});
