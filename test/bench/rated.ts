import { availableParallelism } from 'node:os';
import { atLeast, perSecond, type Row } from './report.js';
import { median } from './rounds.js';

const ROUNDS = 3;

/** Events per second and core, of verify and rebuild (test/bench/README.md). */
export const AUDIT_AIM = 25_000;

/**
 * The rate of `work` over that many events, compared with the aim where there is one. The rate counts the processor time of all threads of
 * this process, which is the rate of one undisturbed core. The rate by elapsed time is shown beside it, because PostgreSQL and other work of
 * the machine slow that one.
 */
export const rated = async (
  name: string,
  { events, bytes }: { events: number; bytes: number },
  work: () => Promise<void>,
  aim?: number,
): Promise<Row> => {
  const rates: number[] = [];
  const coreRates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begun = performance.now();
    const used = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(used);
    rates.push(events / ((performance.now() - begun) / 1_000));
    coreRates.push(events / ((user + system) / 1_000_000));
  }
  const rate = median(coreRates);
  const size = `${events.toLocaleString('en')} events of ${Math.round(bytes / events).toLocaleString('en')} bytes`;
  const detail = `${size}; ${perSecond(median(rates), 'events')} by the clock, with PostgreSQL on the same ${availableParallelism()} cores`;
  const row = { name, figure: `${perSecond(rate, 'events')} per core`, detail };
  return aim === undefined ? row : { ...row, aim: atLeast(aim, rate, '/s') };
};
