import { addSeconds, epochMs, type Instant } from '../../src/domain/common/time.js';
import { type MovableClock, movableClock } from '../support/harness/event-store.js';
import type { Choices } from './choices.js';

/** A process of the service, or a client: everything that it holds in memory is gone when it crashes. */
export type Process = {
  name: string;
  /** Resolves when it has crashed. */
  crashed: Promise<'crashed'>;
  /** Waits for its turn before a call that leaves the process; never resolves in a process that has crashed. */
  turn(step: string): Promise<void>;
  /** Waits until so much virtual time has passed. */
  sleep(seconds: number): Promise<void>;
};

type Step = { of: Process; what: string; go(): void };
type Alarm = { of: Process; at: Instant; go(): void };

export type Scheduler = {
  clock: MovableClock;
  start(name: string): Process;
  crash(process: Process): void;
  /** Calls `act` when the clock reaches the instant, whatever crashes meanwhile. */
  at(instant: Instant, act: () => void): void;
  /** Lets one waiting call go; false when none waits. */
  step(): Promise<boolean>;
  /** Moves the clock to the next alarm; false without one. */
  passTime(): Promise<boolean>;
  /** What happened so far, one line a step. */
  history: string[];
};

/** Runs processes of real asynchronous code one call at a time, in an order that the choices give, at a clock that only it moves. */
export const createScheduler = (start: Instant, choices: Choices): Scheduler => {
  const clock = movableClock(start);
  const history: string[] = [];
  let waiting: Step[] = [];
  let alarms: Alarm[] = [];
  const ends = new Map<Process, () => void>();

  const nobody: Process = {
    name: 'time',
    crashed: new Promise(() => undefined),
    turn: async () => undefined,
    sleep: async () => undefined,
  };

  return {
    clock,
    history,
    start: (name) => {
      let crash: (how: 'crashed') => void = () => undefined;
      const process: Process = {
        name,
        crashed: new Promise((resolve) => {
          crash = resolve;
        }),
        turn: (what) =>
          new Promise((go) => {
            if (ends.has(process)) waiting.push({ of: process, what, go });
          }),
        sleep: (seconds) =>
          new Promise((go) => {
            if (ends.has(process)) alarms.push({ of: process, at: addSeconds(clock.now(), seconds), go });
          }),
      };
      ends.set(process, () => crash('crashed'));
      return process;
    },
    crash: (process) => {
      history.push(`${process.name} crashes`);
      waiting = waiting.filter(({ of }) => of !== process);
      alarms = alarms.filter(({ of }) => of !== process);
      const end = ends.get(process);
      ends.delete(process);
      end?.();
    },
    at: (instant, act) => void alarms.push({ of: nobody, at: instant, go: act }),
    step: async () => {
      const [chosen] = waiting.splice(choices.below(waiting.length), 1);
      if (chosen === undefined) return false;
      history.push(`${chosen.of.name}: ${chosen.what}`);
      chosen.go();
      await settled();
      return true;
    },
    passTime: async () => {
      const next = alarms.reduce<Alarm | undefined>(
        (first, alarm) => (first === undefined || epochMs(alarm.at) < epochMs(first.at) ? alarm : first),
        undefined,
      );
      if (next === undefined) return false;
      alarms.splice(alarms.indexOf(next), 1);
      clock.moveTo(next.at);
      next.go();
      await settled();
      return true;
    },
  };
};

/** Every continuation of what was let go has run: memory engines never wait for anything else. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
