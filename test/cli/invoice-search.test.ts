import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { invoiceViewCommands } from '../../src/cli/commands/invoice-views.js';
import { parkedCommands } from '../../src/cli/commands/parked.js';
import { projectionCommands } from '../../src/cli/commands/projections.js';
import { runCommand } from '../../src/cli/run.js';
import { revealsStream, supportStream } from '../../src/domain/audit/events.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds } from '../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { companyFile } from '../support/fixture/company.js';
import { accepted, attempted, DPS_ID, imported } from '../support/fixture/invoice.js';
import { contextAt } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const ID = invoiceIdOfReference('live', CNPJ, 'pedido-1');

describeWithPostgres('support at the command line', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([
      ...companyCommands,
      ...invoiceCommands,
      ...invoiceViewCommands,
      ...parkedCommands,
      ...projectionCommands,
    ]);
    await writeFile(join(operator.folder, 'company.json'), JSON.stringify(companyFile));
    await operator.run('company', 'put', join(operator.folder, 'company.json'));
    const { store, clock } = operator.session;
    const at = addSeconds(clock.now(), -7_200);
    const first = accepted({ companyId: CNPJ, invoiceId: ID, acceptedAt: at });
    const failedAt = addSeconds(clock.now(), -600);
    const ended: InvoiceEvent = { type: 'IssuanceInterrupted', data: { failedAt, at: failedAt } };
    const life = [first, attempted(1, 1), ended];
    await store.append(invoiceStream('live', CNPJ, ID), { kind: 'none' }, life, contextAt(at, { mode: 'live' }));
    expect((await operator.run('projections', 'rebuild', 'invoices', '--actor', 'maria')).exit).toBe(0);
  });
  afterAll(() => operator.close());

  it.each(['pedido-1', ' pedido-1 ', DPS_ID, `nfse_${ID}`, ID, '11111111000191', '11.111.111/0001-91'])(
    'finds an invoice by %s',
    async (text) => {
      const { exit, json } = await operator.runJson('invoice', 'search', text, '--actor', 'maria');
      expect([exit, json]).toEqual([0, expect.objectContaining({ looked_at: 1 })]);
      expect(json.invoices).toEqual([
        expect.objectContaining({ id: `nfse_${ID}`, cnpj: CNPJ, livemode: true, status: 'indeterminate' }),
      ]);
    },
  );

  it('finds an invoice by the document on the input for -, so that no list of processes shows it', async () => {
    const found = await operator.runWithInput('11.111.111/0001-91\n', 'invoice', 'search', '-', '--actor', 'maria');
    expect(found).toMatchObject({ exit: 0, out: expect.stringContaining(`nfse_${ID}`) });
    expect(await operator.runWithInput('\n', 'invoice', 'search', '-')).toMatchObject({ exit: 2 });
  });

  it.each([['nfse_00000000-0000-4000-8000-000000000000'], ['11111111-1111-4111-8111-111111111111', '--by', 'id']])(
    'ends with exit 1 where no invoice has the id %s',
    async (...argv) => {
      const { exit, out } = await operator.run('invoice', 'search', ...argv);
      expect([exit, out]).toEqual([1, expect.stringMatching(/^nothing found by /)]);
    },
  );

  it('goes on with a search by document where the one before stopped', async () => {
    const before = (createdAt: string) => `${createdAt}/${invoiceStream('live', CNPJ, ID)}`;
    const after = async (cursor: string) =>
      (await operator.run('invoice', 'search', '11111111000191', '--before', cursor)).out;
    expect(await after(before('2099-01-01T00:00:00.000Z'))).toContain(ID);
    expect(await after(before('2020-01-01T00:00:00.000Z'))).toBe('nothing found by reference and by document');
    expect((await operator.run('invoice', 'search', '1', '--by', 'document', '--before', 'x')).exit).toBe(2);
    expect((await operator.run('invoice', 'search', '1', '--by', 'name')).exit).toBe(2);
    expect((await operator.run('invoice', 'search', '1', '--by', 'number')).exit).toBe(2);
    const byNumber = ['invoice', 'search', '1', '--by', 'number', '--company', CNPJ] as const;
    expect((await operator.run(...byNumber)).out).toBe('nothing found by number');
    expect((await operator.run('invoice', 'search', '1', '--company', '00000000000000')).exit).toBe(1);
  });

  it('lists what waits for support, and since when its outcome is unknown', async () => {
    expect((await operator.run('invoice', 'indeterminate')).out).toMatch(
      new RegExp(`nfse_${ID} .*indeterminate, for 10 min`),
    );
    expect((await operator.runJson('invoice', 'indeterminate')).json).toMatchObject({ count: 1 });
  });

  it.each([[['search', ID]], [['list']], [['indeterminate']]])(
    'is told by invoice %j that rows behind the log do not show all',
    async (argv) => {
      const saidWhile = async (...behind: readonly string[]) => {
        const said: string[] = [];
        const terminal = { out: () => undefined, err: (text: string) => void said.push(text) };
        const session = async () => ({ ...operator.session, projectionsBehind: async () => behind });
        const commands = [...invoiceCommands, ...invoiceViewCommands];
        expect(await runCommand(['invoice', ...argv], commands, session, terminal)).toBe(0);
        return said;
      };
      const line = 'more is unknown until the projections have caught up (invoices)';
      expect(await saidWhile('invoices', 'deadlines')).toEqual([line]);
      expect(await saidWhile('deadlines')).toEqual([]);
    },
  );

  it('puts on record who searched by document and who ordered a rebuild, and no document', async () => {
    const { store } = operator.session;
    const seen = await store.load(revealsStream);
    expect(seen.events.length).toBeGreaterThanOrEqual(2);
    expect(seen.events[0]).toMatchObject({ type: 'PersonalDataRevealed', metadata: { actor: 'support:maria' } });
    expect(JSON.stringify(seen.events.map(({ data }) => data))).not.toMatch(/1111111/);
    expect((await store.load(supportStream)).events).toMatchObject([
      { type: 'ProjectionRebuildOrdered', data: { projection: 'invoices' }, metadata: { actor: 'support:maria' } },
    ]);
  });

  it('lists and finds an invoice that was imported without the instant at which it was made', async () => {
    const invoiceId = '66666666-6666-4666-8666-666666666666';
    const at = operator.session.clock.now();
    const event = imported({ companyId: CNPJ, invoiceId, customer: { type: 'br', document: '39053344705' } });
    const stream = invoiceStream('live', CNPJ, invoiceId);
    await operator.session.store.append(stream, { kind: 'none' }, [event], contextAt(at, { mode: 'live' }));
    expect((await operator.run('projections', 'rebuild', 'invoices', '--actor', 'maria')).exit).toBe(0);
    for (const command of [['list'], ['search', '390.533.447-05']]) {
      expect((await operator.run('invoice', ...command)).out).toMatch(
        new RegExp(`^- {25}nfse_${invoiceId}  ${CNPJ}  live  issued$`, 'm'),
      );
      const { invoices } = (await operator.runJson('invoice', ...command)).json as { invoices: object[] };
      const last = { id: `nfse_${invoiceId}`, cnpj: CNPJ, livemode: true, status: 'issued', amount_in_cents: 90_000 };
      expect(invoices.at(-1)).toEqual(last);
    }
  });
});
