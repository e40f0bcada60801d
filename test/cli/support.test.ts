import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createPostgresGuards } from '../../src/adapters/guards-postgres/guards.js';
import { createKeyUses } from '../../src/adapters/read-model-postgres/key-uses.js';
import { createParkedItems } from '../../src/adapters/read-model-postgres/parked-items.js';
import type { UnknownNote } from '../../src/app/recovery/unknown-notes.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { invoiceViewCommands } from '../../src/cli/commands/invoice-views.js';
import { keyCommands } from '../../src/cli/commands/key.js';
import { parkedCommands } from '../../src/cli/commands/parked.js';
import { runCommand } from '../../src/cli/run.js';
import { revealsStream } from '../../src/domain/audit/events.js';
import type { DpsId } from '../../src/domain/common/access-key.js';
import { companyStream, dpsStream, invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds } from '../../src/domain/common/time.js';
import { WorkQueueUnavailable } from '../../src/ports/work-queue.js';
import { mirrorParked } from '../../src/runtime/roles/workers.js';
import { eventually } from '../support/eventually.js';
import { companyFile } from '../support/fixture/company.js';
import {
  ACCESS_KEY,
  accepted,
  attempted,
  authorized,
  cancelNotConfirmed,
  dataOf,
  interrupted,
  unknown,
} from '../support/fixture/invoice.js';
import { appendTo, contextAt } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const WITHOUT_AUTHORIZER = ['--without-authorizer', 'live', '--without-authorizer', 'test'] as const;

const DOUBT = {
  companyId: CNPJ,
  mode: 'live',
  series: '1',
  number: 7,
  dpsId: 'DPS330455721234567800019500001000000000000007' as DpsId,
  why: 'unreadable',
} as const;

const SECOND_NOTE: UnknownNote = {
  mode: 'live',
  companyId: CNPJ,
  series: '1',
  number: 3,
  accessKey: ACCESS_KEY,
  authorizedAt: '2026-11-21T12:00:00.000Z',
  amount: '1500.00',
  owner: { id: 'nfse_1', status: 'issued' },
};

/** Time passes between two answers. */
const withoutAges = (text: string): string => text.replaceAll(/\d+ (?:d|h|min|s)\b/g, '');

const ID = '11111111-1111-4111-8111-111111111111';
const STREAM = invoiceStream('live', CNPJ, ID);

describeWithPostgres('an operator who looks after the service', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([
      ...companyCommands,
      ...keyCommands,
      ...parkedCommands,
      ...invoiceCommands,
      ...invoiceViewCommands,
      doctorCommand,
    ]);
    await writeFile(join(operator.folder, 'company.json'), JSON.stringify(companyFile));
    await operator.run('company', 'put', join(operator.folder, 'company.json'));
  });
  afterAll(() => operator.close());

  const doctorLine = async (name: string): Promise<string> => {
    const { out, err } = await operator.run('doctor');
    return `${out}${err}`.split('\n').find((line) => line.slice(5).startsWith(name)) ?? '';
  };

  const goWithReconcile = '--without-company go with --reconcile';

  it.each<[argv: readonly string[], sentence: string]>([
    [['invoice', 'resolve', ID], "required option '--as <issued|failed|canceled|valid>' not specified"],
    [['invoice', 'resolve', ID, '--as', 'gone', '--evidence', 'x'], '--as must be one of'],
    [['invoice', 'resolve', ID, '--as', 'issued'], "required option '--evidence <TEXT>' not specified"],
    [['invoice', 'resolve', ID, '--as', 'issued', '--evidence', '  '], '--evidence must say'],
    [['invoice', 'resolve', ID, '--as', 'issued', '--evidence', '-'], '--evidence must say'],
    [
      ['invoice', 'resolve', ID, '--as', 'failed', '--evidence', 'x', '--access-key', '1'],
      '--access-key is the 50 characters of a note, and goes with --as issued',
    ],
    [
      ['invoice', 'resolve', ID, '--as', 'failed', '--evidence', 'x', '--other-sale', '1'],
      '--other-sale is the 50 characters of a note, and goes with --as failed',
    ],
    [['company', 'usage', CNPJ], "required option '--month <YYYY-MM>' not specified"],
    [['company', 'usage', CNPJ, '--month', '2026-13'], '--month must be YYYY-MM'],
    [['parked', 'retry'], 'name an ID, or --all'],
    [['parked', 'retry', ID, '--all'], 'name an ID, or --all'],
    [['doctor', '--accept-unknown'], goWithReconcile],
    [['doctor', '--without-company', CNPJ], goWithReconcile],
    [['doctor', '--reconcile', '--without-company', 'acme'], '--without-company must be a CNPJ'],
    [['doctor', '--reconcile', '--span', '0'], '--span must be a number from 1 to 10000'],
    [['doctor', '--from', `${CNPJ}:live:1:1000`], goWithReconcile],
    [['doctor', '--reconcile', '--from', `${CNPJ}:live:1`], 'it must be CNPJ:mode:series:number'],
  ])('is told of bad usage by %j', async (argv, sentence) => {
    const { exit, err } = await operator.run(...argv);
    expect([exit, err]).toEqual([2, expect.stringContaining(sentence)]);
  });

  it.each<[argv: readonly string[], sentence: string]>([
    [['invoice', 'resolve', ID, '--as', 'issued', '--evidence', 'x'], `no invoice ${ID}`],
    [['company', 'usage', '00000000000000', '--month', '2026-11'], 'no company 00000000000000'],
    [['parked', 'retry', ID], `nothing of ${ID} is parked`],
  ])('is told that there is no such thing by %j', async (argv, sentence) => {
    const { exit, err } = await operator.run(...argv);
    expect([exit, err]).toEqual([1, expect.stringContaining(sentence)]);
  });

  it('sees when a key was last used, and that one never was', async () => {
    const created = (await operator.runJson('key', 'create', CNPJ, '--mode', 'test')).json;
    expect((await operator.run('key', 'list', CNPJ)).out).toContain('never used');
    await createKeyUses(operator.database.pool).save(new Map([[String(created.id), '2026-11-21T12:34:56.000Z']]));
    await createKeyUses(operator.database.pool).save(new Map([[String(created.id), '2026-11-20T00:00:00.000Z']]));
    expect((await operator.run('key', 'list', CNPJ)).out).toContain('used 2026-11-21T12h');
    expect((await operator.runJson('key', 'list', CNPJ)).json).toMatchObject({
      keys: [{ last_used_at: '2026-11-21T12:34:56.000Z' }],
    });
  });

  it('sees what the in-process queue has parked, and has it tried again', async () => {
    const item = { kind: 'issue' as const, stream: STREAM, messageId: 'm', reason: 'failed 31 times' };
    let parked = [{ ...item, parkedAt: '2026-11-21T12:00:00.000Z' }];
    const queue = {
      parked: async () => ({ work: parked, count: parked.length }),
      retryParked: async () => {
        parked = [];
        return true;
      },
    };
    const stop = new AbortController();
    const parkedItems = createParkedItems(operator.database.pool);
    const running = mirrorParked(queue, parkedItems, stop.signal, () => undefined, 10);
    await eventually(parkedItems.list, ({ length }) => length === 1);
    expect((await operator.run('parked', 'list')).out).toContain(`issue   nfse_${ID}`);
    expect(await doctorLine('queue')).toMatch(/^BAD .*1 work item parked -> nfse parked list/);
    expect(await operator.runJson('parked', 'retry', '--all')).toEqual({ exit: 0, json: { retried: 1 } });
    await eventually(parkedItems.list, ({ length }) => length === 0);
    stop.abort();
    await running;
    expect((await operator.run('parked', 'list')).out).toBe('nothing is parked');
    expect(await doctorLine('queue')).toMatch(/^ok {3}.*0 work items parked$/);
  });

  it('reads in the timeline what an open invoice waits for, and nothing more of one with an outcome', async () => {
    const { store, clock } = operator.session;
    const now = clock.now();
    const invoiceId = ID.replace(/1$/, '6');
    const stream = invoiceStream('live', CNPJ, invoiceId);
    const data = { ...dataOf(attempted(1, 1), 'IssuanceAttempted'), attemptedAt: now, deadlineAt: addSeconds(now, 35) };
    const lost = { ...dataOf(unknown(1, 1), 'IssuanceOutcomeUnknown'), at: now };
    await store.append(
      stream,
      { kind: 'none' },
      [
        accepted({ companyId: CNPJ, invoiceId, acceptedAt: now }),
        { type: 'IssuanceAttempted', data },
        { type: 'IssuanceOutcomeUnknown', data: lost },
      ],
      contextAt(now, { mode: 'live', companyId: CNPJ }),
    );
    const timeline = () => operator.run('invoice', 'timeline', `nfse_${invoiceId}`);
    // The company has no certificate, without which no look-up leaves.
    const held = expect.stringMatching(/^held back: the company has no certificate that can be used -> /);
    const heldFrom = (seconds: number) => `next look-up from ${addSeconds(now, seconds)}, but for what holds it back`;
    expect((await timeline()).out.split('\n').slice(3)).toEqual([heldFrom(30), held]);
    const guards = createPostgresGuards(operator.database.pool, { idempotencySeconds: 86_400, leaseSeconds: 15 });
    await guards.lookups.put(stream, 'issue/1', { asked: 2, lastAskedAt: now, firstAbsentAt: now });
    expect((await timeline()).out.split('\n').slice(3)).toEqual([
      `look-ups of issue/1: 2, last at ${now}, first absent at ${now}`,
      heldFrom(120),
      held,
    ]);
    expect((await operator.runJson('invoice', 'timeline', `nfse_${invoiceId}`)).json).toMatchObject({
      timeline: [{}, {}, { event: 'IssuanceOutcomeUnknown' }],
      waits_for: {
        lookups: [{ work: 'issue/1', asked: 2, last_asked_at: now, first_absent_at: now }],
        next: { step: 'look_up', from: addSeconds(now, 120) },
        held_by: [{ kind: 'certificate_missing' }],
      },
    });
    await appendTo(store, stream, [authorized(1, 2)], now);
    expect((await timeline()).out.split('\n')).toHaveLength(4);
    const { json } = await operator.runJson('invoice', 'timeline', `nfse_${invoiceId}`);
    expect(Object.keys(json)).toEqual(['id', 'timeline']);
  });

  it('is told by doctor of stopped series, of open work that hangs, and of invoices that wait for support', async () => {
    const { store } = operator.session;
    const now = operator.session.clock.now();
    expect(await doctorLine('numbers')).toMatch(/^ok .*no series is stopped$/);
    const block = { nextNumber: 8, number: 7, invoiceId: ID, at: now };
    const context = contextAt(now, { mode: 'live', companyId: CNPJ });
    await store.append(
      dpsStream('live', CNPJ, '1'),
      { kind: 'none' },
      [{ type: 'DpsSeriesBlocked', data: block }],
      context,
    );
    expect(await doctorLine(`numbers ${CNPJ} live`)).toMatch(
      /^BAD .*series 1 is stopped.* -> where a copy .* was put back: nfse restore --mark, .*; else nfse company put/,
    );

    const ended = [accepted({ companyId: CNPJ, invoiceId: ID }), attempted(1, 1), interrupted];
    await store.append(STREAM, { kind: 'none' }, ended, contextAt(now, { mode: 'live', companyId: CNPJ }));
    const hanging = accepted({
      companyId: CNPJ,
      invoiceId: ID.replace(/1$/, '2'),
      acceptedAt: '2026-01-01T00:00:00.000Z',
    });
    const stream = invoiceStream('live', CNPJ, ID.replace(/1$/, '2'));
    await store.append(stream, { kind: 'none' }, [hanging], contextAt(now, { mode: 'live', companyId: CNPJ }));
    for (const name of ['invoices', 'deadlines'])
      expect(await operator.session.projections.rebuild(name, () => undefined)).toHaveProperty('done');
    expect(await doctorLine('indeterminate')).toMatch(
      new RegExp(
        `^BAD .*1 invoice waits for support: nfse_${ID} \\(live\\) -> nfse invoice resolve .* takes --as failed alone`,
      ),
    );
    expect(await doctorLine('open work')).toMatch(
      /^BAD .*stuck: 1 queued in live mode \(the oldest for \d+ d[^)]*\) -> /,
    );
    expect(await doctorLine('clock live')).toMatch(/^ok .*not asked: no simulator has run here$/);
  });

  it('reads in the timeline what holds a send back', async () => {
    const { store, clock } = operator.session;
    const now = clock.now();
    const invoiceId = ID.replace(/1$/, '8');
    await store.append(
      invoiceStream('live', CNPJ, invoiceId),
      { kind: 'none' },
      [accepted({ companyId: CNPJ, invoiceId, acceptedAt: now })],
      contextAt(now, { mode: 'live', companyId: CNPJ }),
    );
    const { out } = await operator.run('invoice', 'timeline', `nfse_${invoiceId}`);
    const putCertificate = `nfse certificate put ${CNPJ} --pfx FILE --password-file FILE`;
    expect(out.split('\n').slice(1)).toEqual([
      'sent now, but for what holds it back',
      `held back: the company has no certificate that can be used -> ${putCertificate}`,
      expect.stringMatching(/^held back: series 1 is stopped: .* -> where a copy .* was put back: nfse restore --mark/),
    ]);
    expect((await operator.runJson('invoice', 'timeline', `nfse_${invoiceId}`)).json).toMatchObject({
      waits_for: {
        lookups: [],
        next: { step: 'send' },
        held_by: [{ kind: 'certificate_missing', command: putCertificate }, { kind: 'series_stopped' }],
      },
    });
  });

  it('is told of failed live cancellations by doctor and by the list of what waits, until they are closed', async () => {
    expect(await doctorLine('cancellations')).toMatch(/^ok .*no failed live cancellation waits/);
    const { session } = operator;
    const now = session.clock.now();
    const rebuilt = async () =>
      expect(await session.projections.rebuild('invoices', () => undefined)).toHaveProperty('done');
    const streamOf = (mode: 'live' | 'test', last: string) => invoiceStream(mode, CNPJ, ID.replace(/1$/, last));
    const cancel = async (mode: 'live' | 'test', last: string, requestedAt: string, codes: readonly string[]) => {
      const invoiceId = ID.replace(/1$/, last);
      const data = { request: 1, reason: 'other', description: 'Nota emitida em duplicidade', requestedAt } as const;
      await session.store.append(
        streamOf(mode, last),
        { kind: 'none' },
        [
          accepted({ mode, companyId: CNPJ, invoiceId }),
          attempted(1, 1),
          authorized(1, 2),
          { type: 'CancellationRequested', data },
          cancelNotConfirmed(3_700, codes),
        ],
        contextAt(now, { mode, companyId: CNPJ }),
      );
    };
    await cancel('live', '3', '2026-01-01T00:00:00.000Z', []);
    await cancel('live', '4', now, ['E0822']);
    await cancel('test', '5', now, []);
    await rebuilt();
    const named = (last: string) => `nfse_${ID.replace(/1$/, last)}`;
    expect(await doctorLine('cancellations')).toContain(
      `2 failed live cancellations wait for support: ${named('3')} (live), ${named('4')} (live) -> nfse invoice resolve ID --as canceled`,
    );
    const { out } = await operator.run('invoice', 'waiting');
    expect(out).toMatch(
      new RegExp(`${named('3')} \\(live\\), cancellation unconfirmed for \\d+ d.* -> nfse invoice resolve`),
    );
    expect(out).toContain(`${named('4')} (live), cancellation refused`);
    expect(out).toContain('(E0822)');
    expect(out).toContain('series stopped');
    expect(out).not.toContain(named('5'));
    const { json } = await operator.runJson('invoice', 'waiting');
    const withNotices = async () => ({ ...operator.session, recentNotices: async () => 1 });
    const told: string[] = [];
    const terminal = { out: (text: string) => void told.push(text), err: () => undefined };
    expect(await runCommand(['invoice', 'waiting'], invoiceViewCommands, withNotices, terminal)).toBe(0);
    expect(told.join()).toContain('1 kind of differences from the authorizer');
    expect(json).toMatchObject({ recent_alarms: 0 });
    expect(json).toMatchObject({ count: 4, unknown_until_caught_up: [] });

    const closed = { type: 'CancellationClosedBySupport', data: { evidence: 'portal', at: now } } as const;
    for (const last of ['3', '4']) await appendTo(session.store, streamOf('live', last), [closed], now);
    await rebuilt();
    expect(await doctorLine('cancellations')).toMatch(/^ok /);
    expect((await operator.run('invoice', 'waiting')).out).not.toContain('cancellation');
  });

  it('is shown what waits although the queue is down, and told that parked work is unknown', async () => {
    const { out } = await operator.run('invoice', 'waiting');
    expect(out).toContain(ID);
    const { queue } = operator.session;
    const { parked } = queue;
    queue.parked = async () => {
      throw new WorkQueueUnavailable('the work queue is not reachable', 'ECONNREFUSED');
    };
    try {
      const unknown = 'the work queue is not reachable (ECONNREFUSED)';
      const said = await operator.run('invoice', 'waiting');
      expect([said.exit, withoutAges(said.out)]).toEqual([3, withoutAges(out)]);
      expect(said.err).toContain(`parked work is unknown: ${unknown}; check NATS_URL`);
      expect(await operator.runJson('invoice', 'waiting')).toMatchObject({
        exit: 3,
        json: { parked_unknown: unknown },
      });
    } finally {
      queue.parked = parked;
    }
    expect((await operator.runJson('invoice', 'waiting')).json).toMatchObject({ parked_unknown: null });
  });

  it('is shown and told how much more is parked than is listed', async () => {
    const { queue } = operator.session;
    const before = { ...queue };
    const item = { kind: 'issue' as const, stream: STREAM, messageId: 'm', reason: 'failed 31 times' };
    queue.parked = async () => ({ work: [{ ...item, parkedAt: '2026-11-21T12:00:00.000Z' }], count: 4 });
    queue.isParked = queue.retryParked = async () => true;
    try {
      expect((await operator.run('parked', 'list')).out).toMatch(/\nand 3 more$/);
      const said = '1 invoice tried again within seconds\n3 more parked work items: run this again';
      expect((await operator.run('parked', 'retry', '--all')).out).toBe(said);
      const json = { retried: 1, remaining: 3 };
      expect(await operator.runJson('parked', 'retry', '--all')).toEqual({ exit: 0, json });
      expect(await doctorLine('queue')).toMatch(/^BAD .*4 work items parked/);
      queue.retryParked = async () => false;
      expect(await operator.runJson('parked', 'retry', '--all')).toMatchObject({ json: { retried: 0 } });
    } finally {
      Object.assign(queue, before);
    }
  });

  it('lists invoices by status, mode, company and time, and is refused what is no such thing', async () => {
    const ids = async (...argv: string[]) =>
      ((await operator.runJson('invoice', 'list', ...argv)).json.invoices as { id: string }[]).map(({ id }) => id);
    expect(await ids('--status', 'indeterminate', '--company', CNPJ)).toEqual([`nfse_${ID}`]);
    expect(await ids('--mode', 'test')).toEqual([`nfse_${ID.replace(/1$/, '5')}`]);
    expect(await ids('--since', '2999-01-01')).toEqual([]);
    expect(await ids('--until', '2000-01-01')).toEqual([]);
    for (const wrong of [
      ['--status', 'gone'],
      ['--mode', 'both'],
      ['--since', 'yesterday'],
      ['--month', '2026-13'],
      ['--month', '9999-12'],
      ['--month', '2026-11', '--since', '2026-11-21'],
      ['--month', '2026-11', '--until', '2026-11-21'],

      ['--limit', '0'],
      ['--limit', '1001'],
      ['--before', 'x'],
    ])
      expect([wrong, (await operator.run('invoice', 'list', ...wrong)).exit]).toEqual([wrong, 2]);
    expect((await operator.run('invoice', 'list', '--company', '00000000000000')).exit).toBe(1);
  });

  it('lists the invoices of a month in Brasília, as company usage counts them', async () => {
    const month = async (text: string) => {
      const newest = vi.spyOn(operator.session.supportReads, 'newest');
      const { json } = await operator.runJson('invoice', 'list', '--month', text);
      const [filter] = newest.mock.calls[0] ?? [];
      newest.mockRestore();
      return [filter?.since, filter?.until, (json.invoices as object[]).length > 0];
    };
    expect(await month('2026-11')).toEqual(['2026-11-01T03:00:00.000Z', '2026-12-01T03:00:00.000Z', true]);
    expect(await month('2026-12')).toEqual(['2026-12-01T03:00:00.000Z', '2027-01-01T03:00:00.000Z', false]);
  });

  it('lists invoices page by page, and says that there are more', async () => {
    const all = (await operator.runJson('invoice', 'list')).json as { invoices: { id: string }[]; next?: string };
    expect(all.next).toBeUndefined();
    const pages: string[] = [];
    for (let before: string[] = []; ; ) {
      const { json } = await operator.runJson('invoice', 'list', '--limit', '2', ...before);
      const { invoices, next } = json as { invoices: { id: string }[]; next?: string };
      pages.push(...invoices.map(({ id }) => id));
      if (next === undefined) break;
      expect((await operator.run('invoice', 'list', '--limit', '2', ...before)).out).toContain(`--before ${next}`);
      before = ['--before', next];
    }
    expect(pages).toEqual(all.invoices.map(({ id }) => id));
    expect(pages.length).toBeGreaterThan(2);
  });

  it('sees the body of an invoice as the API shows it, and that is recorded', async () => {
    const { json } = await operator.runJson('invoice', 'show', `nfse_${ID}`);
    expect(json).toMatchObject({ object: 'nfse', id: `nfse_${ID}`, status: 'indeterminate', livemode: true });
    const { events } = await operator.session.store.load(revealsStream);
    expect(events.at(-1)).toMatchObject({ data: { command: 'invoice show', subject: STREAM } });
    expect((await operator.run('invoice', 'show', 'nfse_00000000-0000-4000-8000-000000000000')).exit).toBe(1);
  });

  it('is told what is unknown while the projections have not caught up, as after a restore', async () => {
    const { session } = operator;
    const doctor = doctorCommand.run({
      positionals: [],
      flags: {},
      actor: 'ana',
      terminal: { out: () => undefined, err: () => undefined },
      session: async () => ({ ...session, projectionsBehind: async () => ['invoices', 'companies', 'deadlines'] }),
    });
    const { exit, text } = await doctor;
    expect(exit).toBe(1);
    for (const name of [
      'catalogue',
      'open work',
      'indeterminate',
      'cancellations',
      'numbers',
      'clock',
      'layout',
      'companies',
    ])
      expect(text).toMatch(new RegExp(`^BAD  ${name} +unknown until the projections have caught up`, 'm'));
    expect(text).not.toContain(`certificate ${CNPJ}`);
  });

  it('is told which companies keep issuing paused after a restore, and how to go on without them', async () => {
    const unproven = [
      { companyId: CNPJ, lacks: 'certificate' },
      { companyId: CNPJ, lacks: 'city' },
      { ...DOUBT, why: 'certificate_expired' },
    ] as const;
    const skipped = [{ companyId: CNPJ, why: 'it is left out', isHeld: true }] as const;
    const compared = {
      kind: 'compared',
      resumed: false,
      isDone: false,
      series: [
        {
          mode: 'live',
          companyId: CNPJ,
          municipality: '3304557',
          series: '1',
          walked: [
            { from: 3, to: 3 },
            { from: 5, to: 9 },
          ],
          found: 0,
          adopted: 0,
        },
      ],
      skipped,
      unknown: [
        SECOND_NOTE,
        { ...SECOND_NOTE, owner: { id: 'nfse_2', status: 'failed' } },
        { ...SECOND_NOTE, owner: { id: 'nfse_3', status: 'canceled' } },
        { ...SECOND_NOTE, owner: { id: 'nfse_4', status: 'indeterminate' } },
      ],
      doubtful: [DOUBT],
      unproven,
    } as const;
    const asked: unknown[] = [];
    const { exit, text } = await doctorCommand.run({
      positionals: [],
      flags: { reconcile: true, 'without-company': ['12.345.678/0001-95'] },
      actor: 'ana',
      terminal: { out: () => undefined, err: () => undefined },
      session: async () => ({
        ...operator.session,
        recoverLog: async (_actor, { withoutCompanies }) => {
          asked.push(withoutCompanies);
          return compared;
        },
      }),
    });
    expect({ exit, asked }).toEqual({ exit: 1, asked: [[CNPJ]] });
    const leftOut = `nfse company disable ${CNPJ}, nfse doctor --reconcile --without-company ${CNPJ}`;
    for (const line of [
      `it has no certificate -> nfse certificate put ${CNPJ} .*`,
      'its city is in no table -> nfse company put FILE.json, .*',
      `certificate_expired\\) -> nfse certificate put ${CNPJ} .*`,
    ])
      expect(text).toMatch(new RegExp(`^BAD .*${line}${leftOut}$`, 'm'));
    expect(text).toMatch(/^ok .*not compared: it is left out$/m);
    for (const line of [
      'nfse_1, which has another note -> one of the two notes is too many: cancel this note in the national portal, ',
      'nfse_2, which has failed -> its client was answered that no note exists, .*: cancel this note in the national portal, ',
      'nfse_3, which is canceled -> its client counts on no note: cancel this note in the national portal, ',
      'nfse_4, which is indeterminate -> nfse invoice resolve with --as issued, ',
    ])
      expect(text).toMatch(new RegExp(`^BAD .*belongs to ${line}`, 'm'));
    expect(text).not.toContain('nfse invoice import');
    expect(text).toMatch(/^ok .*series 1, city 3304557 \(Rio de Janeiro\/RJ\), numbers 3 and 5 to 9: /m);
    expect(text).toMatch(
      /^BAD .*series 1 number 7, DPS id DPS33\d+: the look-up proves nothing \(unreadable\), .*\(nfse invoice search DPS33\d+7\).*--accept-unknown$/m,
    );
  });

  it('is told of a log that was put back, and that nothing is paused without one', async () => {
    const unpaused = await operator.run('doctor', '--reconcile');
    expect(unpaused).toMatchObject({ exit: 0, out: expect.stringContaining('issuing is not paused') });
    expect(unpaused.err).not.toContain('issuing resumes');
    const wishes = [
      ['--from', `${CNPJ}:live:1:1000`],
      ['--without-company', CNPJ],
      ['--accept-unknown'],
      ['--span', '9'],
    ];
    for (const flags of wishes)
      expect(await operator.run('doctor', '--reconcile', ...flags)).toMatchObject({
        exit: 1,
        err: expect.stringContaining('issuing is not paused, so nothing was asked for: stop the processes'),
      });
    expect(await operator.run('doctor', '--without-authorizer', 'live')).toMatchObject({ exit: 2 });
    expect(await operator.run('doctor', '--reconcile', '--without-authorizer', 'both')).toMatchObject({ exit: 2 });
    await operator.session.markRestored();
    expect(await doctorLine('guards')).toMatch(
      /^BAD .*the log, which ends at \d+, was restored .*issuing is paused -> nfse doctor --reconcile$/,
    );
    const unknown = await operator.run('doctor', '--reconcile', '--from', '98765432000198:live:1:1000');
    expect(unknown).toMatchObject({ exit: 1, err: expect.stringContaining('the log knows no company 98765432000198') });
    const unasked = await operator.run('doctor', '--reconcile', '--from', `${CNPJ}:live:1:1000`);
    expect(unasked).toMatchObject({ exit: 1, err: expect.stringContaining('live mode cannot be compared') });
    const alone = await operator.run('doctor', '--reconcile');
    expect(alone).toMatchObject({
      exit: 1,
      err: expect.stringContaining('nothing was compared in live and test mode: no AUTHORIZER_LIVE_URL'),
    });
    expect(await doctorLine('guards')).toMatch(/^BAD .*issuing is paused/);
    const half = await operator.run('doctor', '--reconcile', '--without-authorizer', 'test');
    expect(half).toMatchObject({ exit: 1, err: expect.stringContaining('nothing was compared in live mode') });
    const compared = await operator.run('doctor', '--reconcile', ...WITHOUT_AUTHORIZER);
    expect(compared).toMatchObject({ exit: 0, out: expect.stringContaining("the simulator's ledger is not here") });
    expect(compared.out).toContain('nothing was compared with the authorizer: issuing resumes within seconds');
    expect(compared.err).toMatch(/must be named before issuing resumes.*--from CNPJ:mode:series:number\[:ibge\]/);
    expect(compared.out).toMatch(/ok +reconcile limits +only the numbers above .* nfse restore --mark/);
    expect(compared.out).toMatch(/ok +reconcile keys .*revoked later is valid again/);
    expect(await doctorLine('guards')).toBe('');
    expect((await operator.session.log.read(companyStream(CNPJ))).length).toBeGreaterThan(0);
  });

  it('keeps issuing paused after a recovery that ended early, also when the log has grown past what it had lost', async () => {
    const head = (await operator.session.log.head()) ?? 0n;
    const position = String(head + 1n);
    await operator.database.admin.query("update checkpoints set position = $1 where name = 'companies'", [position]);
    const refused = await operator.run('doctor', '--reconcile', '--from', '98765432000198:live:1:1000');
    expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('knows no company') });
    await operator.run('key', 'create', CNPJ, '--mode', 'test');
    await operator.run('key', 'create', CNPJ, '--mode', 'test');
    expect(await doctorLine('guards')).toMatch(/^BAD .*issuing is paused -> nfse doctor --reconcile$/);
    expect(await operator.run('doctor', '--reconcile', ...WITHOUT_AUTHORIZER)).toMatchObject({
      exit: 0,
      out: expect.stringContaining('issuing resumes within seconds'),
    });
    expect(await doctorLine('guards')).toBe('');
  });

  it('is told show the version', async () => {
    const output: string[] = [];
    const terminal = { out: (text: string) => void output.push(text), err: () => undefined };
    const unused = () => Promise.reject(new Error('not needed'));
    expect(await runCommand(['--version'], [], unused, terminal, '1.2.3')).toBe(0);
    expect(await runCommand(['--version', '--json'], [], unused, terminal, '1.2.3')).toBe(0);
    expect(output).toEqual(['nfse 1.2.3', '{"version":"1.2.3"}']);
  });
});
