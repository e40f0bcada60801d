import { EventEmitter, once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { addSeconds, epochMs } from '../../src/domain/common/time.js';
import { EventLogUnavailable, type LogPosition } from '../../src/ports/event-log.js';
import {
  type GuardReadiness,
  type GuardReadinessWorker,
  runGuardReadiness,
} from '../../src/workers/guard-readiness.js';
import { acceptances, recordedGuards } from '../support/fixture/recorded-guards.js';

const at = (position: number): LogPosition => BigInt(position) as LogPosition;
const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 2 });

describe('guard readiness', () => {
  const running: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of running.splice(0)) await end();
  });

  const keep = (fixture: ReturnType<typeof acceptances>, changes: Partial<GuardReadinessWorker> = {}) => {
    const stop = new AbortController();
    const record = recordedGuards();
    const readiness: GuardReadiness[] = [];
    const faults: unknown[] = [];
    let ended: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      stop.abort();
      await ended;
    };
    running.push(end);
    const start = (): Promise<void> => {
      ended = runGuardReadiness({
        log: fixture.log,
        record,
        clock: fixture.clock,
        operatorRowsHold: async () => true,
        positionBefore: async () => null,
        windows: { idempotencySeconds: 86_400, duplicateSeconds: 60 },
        signal: stop.signal,
        onReadiness: (now) => readiness.push(now),
        onFilled: () => undefined,
        onFault: (error) => faults.push(error),
        pauseMs: { complete: 1, waiting: 1 },
        steadyMs: () => epochMs(fixture.clock.now()),
        ...changes,
      });
      return ended;
    };
    const last = () => readiness[readiness.length - 1];
    const becomes = (kind: GuardReadiness['kind']) => soon(() => expect(last()?.kind).toBe(kind));
    return { record, readiness, faults, start, end, last, becomes };
  };

  it('finds nothing missing in a log without an event', async () => {
    const { record, start, becomes } = keep(acceptances());
    void start();
    await becomes('complete');
    expect(record.fills).toEqual([]);
  });

  it('fills an empty database from the log, never more than a page at once, and says how far it is', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 1_200; n++) await fixture.accept();
    const { record, readiness, start, becomes } = keep(fixture);
    void start();
    await becomes('complete');
    expect(record.keys).toHaveLength(1_200);
    expect(record.fills).toEqual([1_000, 1_000, 400]);
    expect(readiness.slice(0, 3)).toMatchObject([
      { kind: 'rebuilding', position: 500n, upTo: 1_200n, waitsFor: 'guards' },
      { kind: 'rebuilding', position: 1_000n, upTo: 1_200n, waitsFor: 'guards' },
      { kind: 'complete' },
    ]);
  });

  it('goes on behind the last page of a run that was cut off', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 1_200; n++) await fixture.accept();
    const first = keep(fixture, { onReadiness: () => void first.end() });
    await first.start();
    const { guards } = first.record.answer;
    expect(guards).toBe(1_000n);
    const second = keep(fixture);
    second.record.answer.guards = guards;
    void second.start();
    await second.becomes('complete');
    expect(second.record.keys).toHaveLength(200);
    expect(second.record.answer.guards).toBe(1_200n);
  });

  it('reads what is appended in its first minute without a word, and from then on only follows the head', async () => {
    const fixture = acceptances();
    const filled: number[] = [];
    let isSeen = false;
    const head = async (): Promise<LogPosition | null> => (isSeen ? await fixture.log.head() : null);
    const { record, readiness, start, becomes } = keep(fixture, {
      log: { ...fixture.log, head },
      onFilled: (rows) => filled.push(rows),
    });
    void start();
    await becomes('complete');
    for (let n = 0; n < 1_200; n++) await fixture.accept();
    isSeen = true;
    await soon(() => expect(record.keys).toHaveLength(1_200));
    fixture.clock.pass(60);
    await fixture.accept();
    await soon(() => expect(record.answer).toMatchObject({ guards: 1_201n, operatorRows: 1_201n }));
    expect(record.keys).toHaveLength(1_201);
    await fixture.accept();
    await soon(() => expect(record.answer).toMatchObject({ guards: 1_202n, operatorRows: 1_202n }));
    expect(record.keys).toHaveLength(1_201);
    expect(new Set(readiness.map(({ kind }) => kind))).toEqual(new Set(['complete']));
    expect(filled).toEqual([]);
  });

  it('reports unknown at once when its session is lost, and then reads again from before the position', async () => {
    const fixture = acceptances();
    const { record, readiness, start, becomes } = keep(fixture);
    void start();
    await becomes('complete');
    fixture.clock.pass(60);
    record.answer.leads = false;
    await fixture.accept();
    const before = readiness.length;
    record.lose();
    await soon(() => expect(readiness.slice(before)).toContainEqual({ kind: 'unknown' }));
    record.answer.leads = true;
    await becomes('complete');
    expect(record.keys).toHaveLength(1);
  });

  it('starts again when the rows were replaced during its session', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 3; n++) await fixture.accept();
    const { record, readiness, start, becomes } = keep(fixture);
    void start();
    await becomes('complete');
    const before = readiness.length;
    Object.assign(record.answer, { guards: at(1), operatorRows: at(1) });
    await soon(() => expect(readiness.slice(before)).toContainEqual({ kind: 'unknown' }));
    await becomes('complete');
    expect(record.keys.map(({ keyHash }) => keyHash)).toEqual(['key-1', 'key-2', 'key-3', 'key-2', 'key-3']);
  });

  it('leaves the work to the one that leads and waits for it', async () => {
    const fixture = acceptances();
    await fixture.accept();
    const { record, last, start, becomes } = keep(fixture);
    record.answer.leads = false;
    void start();
    await becomes('rebuilding');
    await soon(() => expect(record.looks).toBeGreaterThan(5));
    expect(last()).toMatchObject({ waitsFor: 'guards' });
    expect([record.moves, record.keys]).toEqual([[], []]);
    Object.assign(record.answer, { guards: at(1), operatorRows: at(1) });
    await becomes('complete');
  });

  it('waits for the rows that operators made', async () => {
    const fixture = acceptances();
    await fixture.accept();
    let hold = false;
    const { last, start, becomes } = keep(fixture, { operatorRowsHold: async () => hold });
    void start();
    await soon(() => expect(last()).toMatchObject({ kind: 'rebuilding', waitsFor: 'operator rows', upTo: 1n }));
    hold = true;
    await becomes('complete');
  });

  it('sees that the log ends before what the database was made from, and writes it down when that lasts', async () => {
    const fixture = acceptances();
    await fixture.accept();
    const { record, last, start, becomes } = keep(fixture);
    record.answer.furthest = at(9);
    void start();
    await becomes('log incomplete');
    expect(last()).toEqual({ kind: 'log incomplete', head: 1n, furthest: 9n, isOther: false });
    await soon(() => expect(record.incompleteNotes).toBe(1));
    expect(record.looks).toBeGreaterThanOrEqual(5);
    record.answer.furthest = at(1);
    const looked = record.looks;
    await soon(() => expect(record.looks).toBeGreaterThan(looked + 2));
    expect(last()?.kind).toBe('log incomplete');
    expect(record.keys).toEqual([]);
  });

  it('says that the pause is over before it reads the log', async () => {
    const fixture = acceptances();
    await fixture.accept();
    const read = new EventEmitter();
    const log: GuardReadinessWorker['log'] = {
      ...fixture.log,
      readAll: async (wanted) => {
        await once(read, 'answered');
        return await fixture.log.readAll(wanted);
      },
    };
    const { record, last, start, becomes } = keep(fixture, { log });
    record.answer.furthest = at(9);
    void start();
    await becomes('log incomplete');
    record.answer.furthest = at(1);
    await becomes('rebuilding');
    expect(last()).toEqual({ kind: 'rebuilding', position: null, upTo: 1n, waitsFor: 'guards' });
    read.emit('answered');
    await becomes('complete');
  });

  it('takes another log under the same address for the loss of its own', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 2; n++) await fixture.accept();
    const other = acceptances();
    await other.accept();
    let current = fixture.log;
    const log: GuardReadinessWorker['log'] = {
      identity: () => current.identity(),
      head: () => current.head(),
      readAll: (wanted) => current.readAll(wanted),
    };
    const { record, start, becomes } = keep(fixture, { log });
    void start();
    await becomes('complete');
    record.answer.furthest = record.answer.guards;
    current = other.log;
    record.lose();
    await becomes('log incomplete');
    expect(new Set(record.identities)).toEqual(new Set([await fixture.log.identity()]));
    expect(record.identities.length).toBeGreaterThan(1);
  });

  it('notices another and longer log under the same address while its session lives, moves nothing and writes no pause down', async () => {
    const fixture = acceptances();
    await fixture.accept();
    const other = acceptances();
    for (let n = 0; n < 9; n++) await other.accept();
    let current = fixture.log;
    const log: GuardReadinessWorker['log'] = {
      identity: () => current.identity(),
      head: () => current.head(),
      readAll: (wanted) => current.readAll(wanted),
    };
    const { record, last, start, becomes } = keep(fixture, { log });
    void start();
    await becomes('complete');
    current = other.log;
    await becomes('log incomplete');
    const looked = record.looks;
    await soon(() => expect(record.looks).toBeGreaterThan(looked + 10));
    expect(last()).toMatchObject({ isOther: true });
    expect(record.answer.guards).toBe(1n);
    expect(record.incompleteNotes).toBe(0);
    current = fixture.log;
    await becomes('complete');
  });

  it.each([
    ['at once when another event is in the place of a remembered one', 'replaced', 1],
    ['after several looks when a remembered event is missing, as on a node that lags', 'missing', 5],
  ] as const)(
    'writes the pause down %s, however long the log is, and then forgets the event',
    async (_name, end, looks) => {
      const fixture = acceptances();
      await fixture.accept();
      let answer: 'held' | 'missing' | 'replaced' = 'held';
      let looksAtLoss = 0;
      const remembered = {
        look: async () => {
          if (answer !== 'held' && record.incompleteNotes === 0) looksAtLoss += 1;
          return answer;
        },
        forget: () => {
          answer = 'held';
        },
      };
      const { record, start, becomes }: ReturnType<typeof keep> = keep(fixture, {
        log: { ...fixture.log, remembered },
      });
      void start();
      await becomes('complete');
      answer = end;
      await becomes('log incomplete');
      await soon(() => expect(record.incompleteNotes).toBe(1));
      expect(looksAtLoss).toBe(looks);
      await soon(() => expect(answer).toBe('held'));
    },
  );

  describe('while a read of the log behind its head fails', () => {
    const withFailingLook = async () => {
      const fixture = acceptances();
      await fixture.accept();
      const state = { isFailing: false, forgotten: 0 };
      const remembered = {
        look: async () => {
          if (state.isFailing) throw new EventLogUnavailable('one read is not answered');
          return 'held' as const;
        },
        forget: () => {
          state.forgotten += 1;
        },
      };
      const kept = keep(fixture, { log: { ...fixture.log, remembered } });
      void kept.start();
      await kept.becomes('complete');
      state.isFailing = true;
      return { ...kept, state };
    };

    it('obeys a pause that the database has, and looks for nothing of what the log has lost', async () => {
      const { record, becomes, state } = await withFailingLook();
      record.answer.logWasIncomplete = true;
      await becomes('log incomplete');
      expect(state.forgotten).toBeGreaterThan(0);
    });

    it('sees that the log is shorter than what the database was made from, and writes that down', async () => {
      const { record, becomes } = await withFailingLook();
      record.answer.furthest = at(1_000_000);
      await becomes('log incomplete');
      await soon(() => expect(record.incompleteNotes).toBe(1));
    });
  });

  it('takes a log that cannot be read from a position of the database for an incomplete one', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 3; n++) await fixture.accept();
    const hasPlace = async (position: LogPosition) => position !== 2n;
    const { record, start, becomes } = keep(fixture, { log: { ...fixture.log, hasPlace } });
    Object.assign(record.answer, { guards: at(2), operatorRows: at(2), furthest: at(2) });
    void start();
    await becomes('log incomplete');
    await soon(() => expect(record.incompleteNotes).toBe(1));
    expect(record.keys).toEqual([]);
  });

  it('forgives a node that lags for moments', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 2; n++) await fixture.accept();
    const heads = [1, 1, 1, 2, 1, 1, 1];
    const lagging = async (): Promise<LogPosition> => at(heads.shift() ?? 2);
    const { record, readiness, start, becomes } = keep(fixture, { log: { ...fixture.log, head: lagging } });
    record.answer.furthest = at(2);
    void start();
    await becomes('complete');
    await soon(() => expect(heads).toEqual([]));
    await becomes('complete');
    expect(readiness[0]?.kind).toBe('log incomplete');
    expect(record.incompleteNotes).toBe(0);
  });

  it('keeps what it knows while the log cannot be asked, and knows nothing before', async () => {
    const fixture = acceptances();
    await fixture.accept();
    let isAway = true;
    const head = async (): Promise<LogPosition | null> => {
      if (isAway) throw new EventLogUnavailable('away');
      return await fixture.log.head();
    };
    const { faults, last, start, becomes } = keep(fixture, { log: { ...fixture.log, head } });
    void start();
    await becomes('unknown');
    isAway = false;
    await becomes('complete');
    isAway = true;
    const before = faults.length;
    await soon(() => expect(faults.length).toBeGreaterThan(before + 2));
    expect(last()?.kind).toBe('complete');
  });

  it('stays complete while its readings of the log fail, and lets nobody wait who came after', async () => {
    const fixture = acceptances();
    await fixture.accept();
    let fails = false;
    const readAll: GuardReadinessWorker['log']['readAll'] = async (wanted) => {
      if (fails) throw new EventLogUnavailable('dropped');
      return await fixture.log.readAll(wanted);
    };
    const { record, readiness, faults, start, becomes } = keep(fixture, { log: { ...fixture.log, readAll } });
    void start();
    await becomes('complete');
    fails = true;
    await fixture.accept();
    await soon(() => expect(faults.length).toBeGreaterThan(3));
    expect(new Set(readiness.map(({ kind }) => kind))).toEqual(new Set(['complete']));
    expect(record.identities).toHaveLength(1);
    fails = false;
    await soon(() => expect(record.keys).toHaveLength(2));
  });

  it('goes on with what it has read when a reading fails before the guards are complete', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 1_200; n++) await fixture.accept();
    let reads = 0;
    const readAll: GuardReadinessWorker['log']['readAll'] = async (wanted) => {
      reads += 1;
      if (reads % 2 === 0) throw new EventLogUnavailable('dropped');
      return await fixture.log.readAll(wanted);
    };
    const { record, readiness, start, becomes } = keep(fixture, { log: { ...fixture.log, readAll } });
    void start();
    await becomes('complete');
    expect(record.fills).toEqual([1_000, 1_000, 400]);
    expect(record.identities).toHaveLength(1);
    expect(readiness.map(({ kind }) => kind)).not.toContain('unknown');
  });

  it('vouches for nothing that it could not read in its first minute', async () => {
    const fixture = acceptances();
    let fails = false;
    const readAll: GuardReadinessWorker['log']['readAll'] = async (wanted) => {
      if (fails) throw new EventLogUnavailable('dropped');
      return await fixture.log.readAll(wanted);
    };
    const { record, faults, start, becomes } = keep(fixture, { log: { ...fixture.log, readAll } });
    void start();
    await becomes('complete');
    fails = true;
    // Its guard was lost before the session began.
    await fixture.accept();
    fixture.clock.pass(61);
    const before = faults.length;
    await soon(() => expect(faults.length).toBeGreaterThan(before + 3));
    expect(record.answer.guards).toBeNull();
    fails = false;
    await soon(() => expect(record.answer.guards).toBe(1n));
    expect(record.keys).toHaveLength(1);
  });

  it('skips what is too old to count, once it has seen a page of it, and asks for no such place otherwise', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 1_200; n++) await fixture.accept();
    fixture.clock.pass(3 * 86_400);
    for (let n = 0; n < 3; n++) await fixture.accept();
    const asked: string[] = [];
    const positionBefore = async (since: string): Promise<LogPosition> => {
      asked.push(since);
      return at(1_199);
    };
    const { record, start, becomes } = keep(fixture, { positionBefore });
    void start();
    await becomes('complete');
    expect(asked).toEqual([addSeconds(fixture.clock.now(), -86_400 - 600)]);
    expect(record.moves.map(({ guards }) => guards)).toEqual([1_199n, 1_203n, 1_203n]);
    expect(record.keys.map(({ keyHash }) => keyHash)).toEqual(['key-1201', 'key-1202', 'key-1203']);
    const young = acceptances();
    for (let n = 0; n < 600; n++) await young.accept();
    const quick = keep(young, { positionBefore });
    void quick.start();
    await quick.becomes('complete');
    expect(asked).toHaveLength(1);
  });

  it('reads nothing more when all of it is too old', async () => {
    const fixture = acceptances();
    for (let n = 0; n < 700; n++) await fixture.accept();
    fixture.clock.pass(3 * 86_400);
    const { record, start, becomes } = keep(fixture, { positionBefore: async () => at(700) });
    void start();
    await becomes('complete');
    expect([record.keys, record.fills.length, record.answer.guards]).toEqual([[], 1, 700n]);
  });

  it('reads the position while it works, so that the database keeps its session, and notices rows that were replaced meanwhile', async () => {
    const fixture = acceptances();
    await fixture.accept();
    let goOn = (): void => undefined;
    let holds = 0;
    const operatorRowsHold = (): Promise<boolean> => {
      holds += 1;
      if (holds > 1) return Promise.resolve(true);
      return new Promise((resolve) => {
        goOn = () => resolve(true);
      });
    };
    const { record, faults, start, becomes } = keep(fixture, { operatorRowsHold, beatMs: 1 });
    record.answer.guards = at(1);
    void start();
    await soon(() => expect(record.looks).toBeGreaterThan(5));
    record.answer.guards = null;
    const looked = record.looks;
    // The look that finds it is the last of this session.
    await soon(() => expect(record.looks).toBeGreaterThan(looked));
    goOn();
    await soon(() => expect(faults.map((fault) => (fault as Error).name)).toContain('GuardsReplaced'));
    await becomes('complete');
    expect(record.identities).toHaveLength(2);
  });
});
