import { describe, expect, it } from 'vitest';
import { compareRestoredLog } from '../../../src/app/recovery/recover-log.js';
import { companyStream, modes } from '../../../src/domain/common/ids.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { at, attempted, limits, T0 } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { type RecoveryHarness, recoveryHarness } from '../../support/harness/recovery.js';

/** The loss was seen just now, after a send with the usual time limit: 30 s, and 5 s for the append of its attempt. */
const seenNow = async (): Promise<RecoveryHarness & { said: string[] }> => {
  const said: string[] = [];
  const harness = await recoveryHarness({ lostBefore: T0, onProgress: (text) => void said.push(text) });
  return { ...harness, said };
};

/** Waits as the product does; the authorizer makes the note of the lost send meanwhile. */
const committing = ({ deps, register }: RecoveryHarness, seconds: number) => {
  let isMade = false;
  return {
    ...deps,
    waitUntil: async (until: string) => {
      if (!isMade && until >= at(seconds)) register(1, 1);
      isMade ||= until >= at(seconds);
      await deps.waitUntil(until);
    },
  };
};

describe('a comparison that begins while a send that the log has lost is under way', () => {
  it('given a commit a minute after its deadline at most, then gives the note back and moves the number past it', async () => {
    const harness = await seenNow();
    const stream = await harness.accept(1);
    const done = await compareRestoredLog(committing(harness, 35 + 60), false);
    expect(done).toMatchObject({ isDone: true, unknown: [] });
    expect(await harness.status(stream)).toBe('issued');
    expect(await harness.lastNumber()).toMatchObject({ data: { nextNumber: 2 } });
  });

  it.each([35, 600])(
    'given its own clock %d s ahead of the database, then waits as long all the same',
    async (ahead) => {
      const harness = await seenNow();
      const stream = await harness.accept(1);
      harness.clock.moveTo(at(ahead));
      const databaseNow = async () => addSeconds(harness.clock.now(), -ahead);
      const done = await compareRestoredLog({ ...committing(harness, ahead + 35 + 60), databaseNow }, false);
      expect(done).toMatchObject({ isDone: true, unknown: [] });
      expect(await harness.status(stream)).toBe('issued');
      expect(await harness.lastNumber()).toMatchObject({ data: { nextNumber: 2 } });
    },
  );

  it('given the usual time limit, then asks for nothing before its deadline, and says until when and how long', async () => {
    const { deps, clock, said } = await seenNow();
    expect(await compareRestoredLog(deps, false)).toMatchObject({ isDone: true });
    expect(said[0]).toBe(
      `a send that the log has lost may be under way until ${at(35)}: nothing is asked for before then, in 35 seconds`,
    );
    expect(said.at(-1)).toBe(`what was not there is asked for once more at ${at(35 + 60)}`);
    expect(clock.now()).toBe(at(35 + 60));
  });

  it('given a loss that was seen by a clock three hours ahead, then waits from now on', async () => {
    const said: string[] = [];
    const { deps } = await recoveryHarness({ lostBefore: at(10_800), onProgress: (text) => void said.push(text) });
    await compareRestoredLog(deps, false);
    expect(said[0]).toContain(`until ${at(35)}:`);
  });

  it.each([
    ['the limit of this command', { sendSeconds: 100 }, 0, 105],
    ['the limit of a process whose attempt is in the log', { sendSeconds: 2 }, -50, 35],
  ])('given %s, then waits for the longest', async (_what, change, attemptedAt, seconds) => {
    const { deps, accept, said } = await seenNow();
    await accept(1, 'live', attempted(1, attemptedAt));
    await compareRestoredLog({ ...deps, limits: { ...limits, ...change } }, false);
    expect(said[0]).toContain(`until ${at(seconds)}:`);
  });

  it.each([
    ['the deadline is over', { lostBefore: at(-35) }],
    ['nothing is asked for, as in a rehearsal', { modesWithoutLedger: modes, withoutAuthorizer: modes }],
  ])('given that %s, then does not wait', async (_what, change) => {
    const { deps, said } = await seenNow();
    expect(await compareRestoredLog({ ...deps, ...change }, false)).toMatchObject({ isDone: true });
    expect(said.filter((text) => text.includes('may be under way'))).toEqual([]);
  });

  it('given a company that cannot be asked for, then says so without a wait', async () => {
    const { deps, clock, said } = await seenNow();
    const municipalityOf = () => undefined;
    await appendTo(deps.store, companyStream(DEMO_CNPJ), [{ type: 'CompanyEnabled', data: { at: T0 } }], T0);
    expect(await compareRestoredLog({ ...deps, municipalityOf }, false)).toMatchObject({ isDone: false });
    expect(clock.now()).toBe(T0);
    expect(said.filter((text) => text.includes('may be under way'))).toEqual([]);
  });
});
