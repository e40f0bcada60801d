import { describe, expect, it } from 'vitest';
import { listedChoices, seededChoices } from './choices.js';
import { type Life, playLife, type Sabotage } from './life.js';
import { shrink } from './shrink.js';

const FIXED_SEEDS = 300;

const lives = async (count: number, sabotage?: Sabotage): Promise<readonly Life[]> => {
  const played: Life[] = [];
  for (let seed = 1; seed <= count; seed += 1) played.push(await playLife(seededChoices(seed), sabotage));
  return played;
};

/** The first of the fixed seeds whose life breaks a promise. */
const firstBreach = async (sabotage: Sabotage): Promise<Life> => {
  for (let seed = 1; seed <= FIXED_SEEDS; seed += 1) {
    const life = await playLife(seededChoices(seed), sabotage);
    if (life.breaches.length > 0) return life;
  }
  throw new Error('no life broke a promise');
};

/** One append of this type is confirmed and not stored, as by a disk that lies. */
const losing =
  (type: string): Sabotage =>
  ({ shared }) => {
    const { log } = shared;
    let isLost = false;
    shared.log = {
      ...log,
      append: async (stream, expected, events) => {
        if (isLost || events[0]?.type !== type) return await log.append(stream, expected, events);
        isLost = true;
        return { ok: true, revision: expected.kind === 'none' ? 0 : expected.revision + 1 };
      },
    };
  };

/** The log stores an append at the end of the stream, whatever the writer had read. */
const forgiving: Sabotage = ({ shared }) => {
  const { log } = shared;
  shared.log = {
    ...log,
    append: async (stream, expected, events) => {
      const result = await log.append(stream, expected, events);
      if (result.ok || result.actual === null) return result;
      return await log.append(stream, { kind: 'exact', revision: result.actual }, events);
    },
  };
};

describe('whole lives at a virtual clock', () => {
  it('keep every promise, whatever crashes, is lost, comes twice or comes late', async () => {
    const played = await lives(FIXED_SEEDS);
    expect(played.flatMap(({ breaches }) => breaches)).toEqual([]);
    const sum = (name: keyof Life['counts']): number => played.reduce((total, { counts }) => total + counts[name], 0);
    expect(sum('crashes')).toBeGreaterThan(FIXED_SEEDS);
    expect(sum('notes')).toBeGreaterThan(FIXED_SEEDS);
  });

  it('are the same for the same seed, call by call', async () => {
    const [one, other] = [await playLife(seededChoices(11)), await playLife(seededChoices(11))];
    expect(one.history.length).toBeGreaterThan(50);
    expect(other).toEqual(one);
    expect((await playLife(listedChoices(one.choices))).history).toEqual(one.history);
  });

  it('are different for another seed', async () => {
    expect((await playLife(seededChoices(12))).history).not.toEqual((await playLife(seededChoices(11))).history);
  });

  it('have no fault at all when every choice is the peaceful one', async () => {
    const { breaches, counts } = await playLife(listedChoices([]));
    expect({ breaches, ...counts }).toMatchObject({ breaches: [], crashes: 0, invoices: 1, notes: 1 });
  });

  it.each([
    ['an append that is confirmed and lost: an attempt', losing('IssuanceAttempted')],
    ['an append that is confirmed and lost: an acceptance', losing('InvoiceAccepted')],
    ['a log that appends whatever was read before', forgiving],
    [
      'an authorizer that makes two notes of one DPS id',
      ({ ledger }: Parameters<Sabotage>[0]) => {
        ledger.isUnique = false;
      },
    ],
  ])('show %s', async (_what, sabotage) => {
    expect((await firstBreach(sabotage)).breaches).not.toEqual([]);
  });

  it('are made short when they break a promise', async () => {
    const sabotage: Sabotage = ({ ledger }) => {
      ledger.isUnique = false;
    };
    const life = await firstBreach(sabotage);
    const isBroken = async (list: readonly number[]) =>
      (await playLife(listedChoices(list), sabotage)).breaches.length > 0;
    const short = await shrink(life.choices, isBroken, 500);
    const played = await playLife(listedChoices(short), sabotage);
    expect(played.breaches).not.toEqual([]);
    expect(short.filter((choice) => choice !== 0).length).toBeLessThan(
      life.choices.filter((choice) => choice !== 0).length / 4,
    );
    expect(short.length).toBeLessThan(life.choices.length / 2);
  });
});
