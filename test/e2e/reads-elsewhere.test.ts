import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import type { SeenInvoice } from '../support/harness/careful-client.js';
import {
  openServiceProcesses,
  type ServiceProcess,
  type ServiceProcesses,
} from '../support/harness/service-processes.js';
import { orderFault } from '../support/harness/simulator-process.js';
import { postAnswerOf } from '../support/parallel-posts.js';
import { describeWithPostgres } from '../support/postgres.js';
import { untilServed } from '../support/until-served.js';

const POSTS = 50;
const WATCHED = 5;
const ROUNDS = 10;
const SLOW_MS = 2_000;
const WITHIN_MS = 120_000;

/** A later stage is a newer state. */
const STAGES = ['queued', 'processing', 'issued', 'issued, canceling', 'canceled'];

const stageOf = ({ status, cancellation }: SeenInvoice): number =>
  STAGES.indexOf(status === 'issued' && cancellation !== undefined ? 'issued, canceling' : status);

type Linked = SeenInvoice & { links?: { pdf: string; xml: string } };

const withoutLinks = ({ links: _links, ...rest }: Linked): object => rest;

describe.each([
  { title: 'with a projector', first: 'all' },
  { title: 'without a projector', first: 'api,relay,issuer,sweeper' },
])('$title', ({ first }) => {
  describeWithPostgres('what one process of the api has written', () => {
    let service: ServiceProcesses;
    let a: ServiceProcess;
    let b: ServiceProcess;
    let amount = 40_000;
    beforeAll(async () => {
      service = await openServiceProcesses();
      [a, b] = await Promise.all([service.start(first), service.start('api')]);
    });
    afterAll(() => service.close());

    const newAmount = (): number => {
      amount += 1;
      return amount;
    };
    const accept = async (fields: object = {}): Promise<Linked> => {
      const body = { amount_in_cents: newAmount(), description: 'Serviço', ...fields };
      const idempotencyKey = randomUUID();
      // Of many at once a busy machine may turn one away, to be repeated with its key.
      const { status, body: accepted } = await eventually(
        async () => postAnswerOf(await a.ask('/v1/nfse', { body, idempotencyKey })),
        (answer) => answer.status !== 503 && answer.body.error?.code !== 'idempotency_key_in_use',
      );
      expect(status, JSON.stringify(accepted)).toBe(202);
      return accepted as Linked;
    };
    const issued = async (): Promise<Linked> => {
      const { id } = await accept();
      return await a.client.pollUntil(id, WITHIN_MS, ({ status }) => status === 'issued');
    };

    it('is read by another at once after its 202, by id and by reference', async () => {
      await Promise.all(
        Array.from({ length: POSTS }, async (_, index) => {
          const reference = `elsewhere-${index}`;
          const { status: _queued, ...accepted } = await accept({ reference, customer: CUSTOMER });
          const [byId, byReference] = await Promise.all([
            b.client.get(accepted.id),
            b.client.findByReference(reference),
          ]);
          for (const seen of [byId, byReference]) expect(seen).toMatchObject(accepted);
        }),
      );
    });

    it('passes through its states for both alike: after a newer one nobody sees an older one, nor none', async () => {
      const seenByB = new Set<string>();
      const watch = async (): Promise<void> => {
        const ofItsOwn = newAmount();
        await orderFault(a.controlUrl, { on: 'issue', kind: 'slow', delay_ms: SLOW_MS }, ofItsOwn);
        const { id } = await accept({ amount_in_cents: ofItsOwn });
        let newest = 0;
        while (newest < STAGES.indexOf('issued')) {
          for (const at of [a, b]) {
            const seen = await at.client.get(id);
            expect(stageOf(seen)).toBeGreaterThanOrEqual(newest);
            newest = stageOf(seen);
            if (at === b) seenByB.add(seen.status);
          }
        }
        const [atA, atB] = await Promise.all([a.client.get(id), b.client.get(id)]);
        expect(withoutLinks(atB)).toEqual(withoutLinks(atA));
        expect([atA, atB]).toMatchObject([{ links: {} }, { links: {} }]);
      };
      // A busy machine may ask the second process only when the slow send is over, so the test watches further invoices.
      for (let round = 0; round < ROUNDS && !seenByB.has('processing'); round += 1)
        await Promise.all(Array.from({ length: WATCHED }, watch));
      expect(seenByB).toContain('processing');
    });

    it('is canceled through another, which the first one sees at once, however late a projector is', async () => {
      const { id, access_key } = await issued();
      await whileProjectionWaits(service.operator.database.pool, async () => {
        expect(await b.client.cancel(id)).toMatchObject({ status: 202, body: { cancellation: { status: 'pending' } } });
        expect(STAGES[stageOf(await a.client.get(id))]).toMatch(/cancel/);
      });
      for (const at of [a, b]) {
        const canceled = await at.client.pollUntil(id, WITHIN_MS, ({ status }) => status === 'canceled');
        expect(canceled).toMatchObject({ access_key, cancellation: { status: 'succeeded' } });
      }
    });

    it('is downloaded from another by the link of the first one, without a key, and nothing else is', async () => {
      const [invoice, other] = await Promise.all([issued(), issued()]);
      const open = async (format: 'pdf' | 'xml'): Promise<string> => {
        const { origin, pathname, search } = new URL(invoice.links?.[format] ?? '');
        expect(origin).toBe(a.origin);
        const response = await untilServed(() => b.ask(`${pathname}${search}`, { key: '' }));
        expect(response.status).toBe(200);
        const elsewhere = `${pathname.replace(invoice.id, other.id)}${search}`;
        expect((await b.ask(elsewhere, { key: '' })).status).toBe(401);
        return await response.text();
      };
      expect(await open('xml')).toContain(`"NFS${invoice.access_key}"`);
      expect(await open('pdf')).toMatch(/^%PDF-/);
    });
  });
});

/** A lock on the checkpoint's row stops the projector in every process. */
const whileProjectionWaits = async (pool: Pool, work: () => Promise<void>): Promise<void> => {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query("select from checkpoints where name = 'invoices' for update");
    await work();
  } finally {
    await client.query('rollback');
    client.release();
  }
};

const CUSTOMER = { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' };
