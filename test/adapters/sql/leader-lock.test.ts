import { afterEach, beforeEach, expect, it } from 'vitest';
import { asLeader, type LeaderSession, lastingLead, leaderSession } from '../../../src/adapters/sql/leader-lock.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

describeWithPostgres('work as the leader', () => {
  let database: FreshDatabase;
  let own: LeaderSession;
  let other: LeaderSession;
  beforeEach(async () => {
    database = await freshDatabase();
    [own, other] = [leaderSession(database.pool), leaderSession(database.pool)];
  });
  afterEach(async () => {
    await Promise.all([own.close(), other.close()]);
    await database.close();
  });

  const isLedByOther = async (name: string): Promise<boolean> => {
    const lost = await other.tryLead(name);
    if (lost !== undefined) await other.resign(name);
    return lost === undefined;
  };

  it('holds the lead while it runs, and gives it up at its end', async () => {
    expect(await asLeader(own, 'sweep', () => isLedByOther('sweep'))).toBe(true);
    expect(await isLedByOther('sweep')).toBe(false);
  });

  it('gives the lead up when it fails, and fails as the work does', async () => {
    const work = () => Promise.reject(new Error('the work failed'));
    await expect(asLeader(own, 'sweep', work)).rejects.toThrow('the work failed');
    expect(await isLedByOther('sweep')).toBe(false);
  });

  it('is not begun while another process leads', async () => {
    await other.tryLead('sweep');
    let begun = 0;
    const work = async () => {
      begun += 1;
    };
    expect(await asLeader(own, 'sweep', work)).toBeUndefined();
    expect(begun).toBe(0);
  });

  it('learns by its signal that the lead is lost or the process stops', async () => {
    const stop = new AbortController();
    await asLeader(
      own,
      'sweep',
      async (leading) => {
        expect(leading.aborted).toBe(false);
        stop.abort();
        expect(leading.aborted).toBe(true);
      },
      stop.signal,
    );
    await asLeader(leaderSession(database.pool), 'other', async (leading) => {
      const lost = new Promise((resolve) => leading.addEventListener('abort', resolve, { once: true }));
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
         and (classid::bigint << 32) | objid::bigint = hashtextextended('other', 0)`,
      );
      await lost;
    });
  });

  it('opens no session to resign a lead that was lost', async () => {
    const lost = await own.tryLead('sweep');
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()
       and (classid::bigint << 32) | objid::bigint = hashtextextended('sweep', 0)`,
    );
    if (lost?.aborted === false)
      await new Promise((resolve) => lost.addEventListener('abort', resolve, { once: true }));
    const before = database.pool.totalCount;
    await own.resign('sweep');
    expect(database.pool.totalCount).toBe(before);
  });

  it('leads once and keeps the lead, until the session is lost', async () => {
    const lead = lastingLead(own, 'reconciliation', new AbortController().signal);
    const first = await lead.take();
    expect(first?.aborted).toBe(false);
    expect(await lead.take()).toBe(first);
    expect(await isLedByOther('reconciliation')).toBe(true);
    await own.close();
    expect(first?.aborted).toBe(true);
  });

  it('lets another process lead once it has resigned, and leads again when that one resigns', async () => {
    const lead = lastingLead(own, 'reconciliation', new AbortController().signal);
    await lead.resign();
    await lead.take();
    await lead.take();
    await lead.resign();
    expect(await other.tryLead('reconciliation')).toBeDefined();
    expect(await lead.take()).toBeUndefined();
    await other.resign('reconciliation');
    expect(await lead.take()).toBeDefined();
  });
});
