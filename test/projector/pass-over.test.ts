import { expect, it } from 'vitest';
import { companies } from '../../projections/companies.js';
import { companyStream } from '../../src/domain/common/ids.js';
import type { EventLog, LogPosition } from '../../src/ports/event-log.js';
import { generationOf, liveGeneration, readCheckpoint } from '../../src/projector/checkpoints.js';
import { passOverOthers } from '../../src/projector/pass-over.js';
import { eventually } from '../support/eventually.js';
import { accepted, COMPANY, registration, streamOf } from '../support/fixture/histories.js';
import { projecting } from '../support/harness/projecting.js';
import { NOW } from '../support/harness/projector.js';
import { describeWithPostgres } from '../support/postgres.js';

describeWithPostgres('passing over events of other streams', () => {
  const harness = projecting();
  const { append } = harness;
  const registered = () =>
    append(companyStream(COMPANY), [{ type: 'CompanyRegistered', data: { registration, at: NOW } }]);
  const others = () => append(streamOf('live', 1), [accepted('live', 1)]);
  const checkpoint = () => readCheckpoint(harness.pool, companies);

  /** Runs until the test ends; answers where it has moved to, and what failed. */
  const passOver = async (log: Partial<EventLog> = {}) => {
    const generation = generationOf(companies, await liveGeneration(harness.pool, companies.name));
    let position = await checkpoint();
    const seen = { moves: [] as LogPosition[], faults: [] as unknown[], rounds: 0 };
    harness.running(
      passOverOthers(generation, {
        ...harness.deps(),
        signal: harness.signal,
        everyMs: 1,
        log: {
          ...harness.log,
          ...log,
          head: async () => {
            seen.rounds += 1;
            return await (log.head ?? harness.log.head)();
          },
        },
        position: () => position,
        onMoved: (to) => {
          position = to;
          seen.moves.push(to);
        },
        onFault: (error) => void seen.faults.push(error),
      }),
    );
    return seen;
  };

  it('moves the checkpoint to the head, and no further while nothing comes', async () => {
    await others();
    const seen = await passOver();
    await eventually(async () => (await checkpoint()) === (await harness.log.head()));
    const after = seen.rounds;
    await eventually(async () => seen.rounds > after + 2);
    expect(seen.moves).toEqual([await harness.log.head()]);
  });

  it('stays before an event of its streams, whatever comes behind it', async () => {
    await others();
    const before = await harness.log.head();
    const seen = await passOver();
    await eventually(async () => (await checkpoint()) === before);
    await registered();
    await append(streamOf('live', 2), [accepted('live', 2)]);
    const after = seen.rounds;
    await eventually(async () => seen.rounds > after + 2);
    expect(await checkpoint()).toBe(before);
  });

  it('moves to the head that it has read, when an event of its streams comes behind that', async () => {
    await others();
    const head = await harness.log.head();
    const readAll: EventLog['readAll'] = async (wanted) => {
      if ((await checkpoint()) === null) await registered();
      return await harness.log.readAll(wanted);
    };
    await passOver({ readAll });
    await eventually(async () => (await checkpoint()) === head);
  });

  it('leaves a checkpoint that another one has moved meanwhile', async () => {
    await others();
    const readAll: EventLog['readAll'] = async (wanted) => {
      await harness.pool.query(`update checkpoints set position = 1 where name = 'companies' and role = 'live'`);
      return await harness.log.readAll(wanted);
    };
    const head = async () => 7n as LogPosition;
    const seen = await passOver({ readAll, head });
    await eventually(async () => seen.rounds > 2);
    expect(seen.moves).toEqual([]);
    expect(await checkpoint()).toBe(1n);
  });

  it('reports a log that is away, and goes on', async () => {
    await others();
    const gone = new Error('gone');
    const faults = [gone];
    const head: EventLog['head'] = async () => {
      const fault = faults.pop();
      if (fault !== undefined) throw fault;
      return await harness.log.head();
    };
    const seen = await passOver({ head });
    await eventually(async () => (await checkpoint()) === (await harness.log.head()));
    expect(seen.faults).toEqual([gone]);
  });

  it.each<[string, () => Partial<EventLog>]>([
    ['another log is at the address', () => ({ identity: async () => 'another' })],
    [
      'the log lacks an event that was in it',
      () => ({ remembered: { look: async () => 'missing', forget: () => undefined } }),
    ],
  ])('moves nothing while %s', async (_name, changes) => {
    await others();
    const before = await checkpoint();
    const seen = await passOver(changes());
    await eventually(async () => seen.rounds > 3);
    expect(seen.moves).toEqual([]);
    expect(await checkpoint()).toBe(before);
  });
});
