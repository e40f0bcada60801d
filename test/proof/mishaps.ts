import { setTimeout as pause } from 'node:timers/promises';
import type { AuthorizerOfRun } from './authorizer.js';
import { between, drawsOf, oneOf } from './draws.js';
import type { Engines } from './engines.js';
import type { Recorder } from './recorder.js';
import type { Service } from './service.js';
import type { ServiceClock } from './service-clock.js';

/** One mishap of the plan; what each number means depends on the kind. `after`: share of the run's time that has passed. */
type PlannedMishap = { kind: string; after: number; index: number; milliseconds: number; offsetSeconds: number };

/** Mishaps of every run, beside those of its engines; `kill` comes as often as asked for. */
const ALWAYS = ['drain', 'freeze', 'network_cut', 'network_hold', 'authorizer_clock'] as const;

/** Of other kinds, one for so many kills. */
const KILLS_FOR_ANOTHER = 6;
/** The judge compares no replays near a step, so that most of a run is without. */
const KILLS_FOR_A_STEP = 30;
/** The clients begin and end in peace. */
const FROM = 0.04;
const TO = 0.92;

/** Places in the order of a plan, so many that two mishaps of a run rarely draw the same one. */
const PLACES = 1_000_000_000;

/** Why a run that could step the clock did not. */
export const TOO_SHORT_FOR_STEPS = `clock steps of the service's machine: one comes for ${KILLS_FOR_A_STEP} kills, and this run has fewer than ${KILLS_FOR_A_STEP / 2}`;

/**
 * The same for the same seed, kills and kinds. Each kind has a generator, so that a run without a kind, or with fewer kills, has the same other mishaps
 * in the same order.
 */
export const planMishaps = (
  seed: number,
  kills: number,
  ofEngines: readonly string[],
  { stepsClock }: { stepsClock: boolean },
): readonly PlannedMishap[] => {
  const others = Math.max(1, Math.round(kills / KILLS_FOR_ANOTHER));
  const steps = stepsClock ? Math.round(kills / KILLS_FOR_A_STEP) : 0;
  const ofKind = (kind: string, count: number) => {
    const draws = drawsOf(seed, `mishaps ${kind}`);
    return Array.from({ length: count }, () => ({
      kind,
      place: draws.below(PLACES),
      index: draws.below(100),
      milliseconds: lengthOf(kind, draws),
      offsetSeconds: oneOf(draws, kind === 'clock_step' ? [-20, -3, 10] : [-40, 90, 300]),
    }));
  };
  const all = [
    ...ofKind('kill', kills),
    ...ofKind('clock_step', steps),
    ...[...ALWAYS, ...ofEngines].flatMap((kind) => ofKind(kind, others)),
  ].sort((one, other) => one.place - other.place);
  return all.map(({ place: _place, ...mishap }, index) => ({
    ...mishap,
    after: FROM + ((TO - FROM) * index) / all.length,
  }));
};

const lengthOf = (kind: string, draws: ReturnType<typeof drawsOf>): number => {
  switch (kind) {
    // Sometimes longer than the leases of leaders last.
    case 'freeze':
      return draws.below(12) === 0 ? 17_000 : between(draws, 500, 5_000);
    case 'database_kill':
    case 'queue_kill':
    case 'log_kill':
      return between(draws, 0, 1_500);
    case 'disk_full':
      return between(draws, 1_000, 3_000);
    default:
      return between(draws, 500, 4_000);
  }
};

/** Between two mishaps, also where the machine is slow: a mishap must meet a service that works. */
const PEACE_MS = 1_000;

type Stage = {
  service: Service;
  clock: ServiceClock | undefined;
  engines: Engines;
  authorizer: AuthorizerOfRun;
  recorder: Recorder;
};

/** Makes the mishaps of the plan one after another, each when its share of the time has passed. Ends early when the signal aborts. */
export const makeMishaps = async (
  plan: readonly PlannedMishap[],
  totalMs: number,
  stage: Stage,
  onMade: (kind: string) => void,
  signal: AbortSignal,
): Promise<void> => {
  const began = Date.now();
  for (const planned of plan) {
    const wait = Math.max(PEACE_MS, began + planned.after * totalMs - Date.now());
    await pause(wait, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const at = new Date().toISOString();
    await makeOne(planned, stage);
    const offset = planned.kind.includes('clock') ? { offsetSeconds: planned.offsetSeconds } : {};
    stage.recorder.mishap({ kind: planned.kind, at, until: new Date().toISOString(), ...offset });
    onMade(planned.kind);
  }
};

const makeOne = async (
  { kind, index, milliseconds, offsetSeconds }: PlannedMishap,
  { service, clock, engines, authorizer }: Stage,
): Promise<void> => {
  const victim = index % service.processes;
  switch (kind) {
    case 'kill':
      return await service.kill(victim);
    case 'drain':
      return await service.drain(victim);
    case 'freeze':
      return await service.freeze(victim, milliseconds);
    case 'network_cut':
      authorizer.line.refuse();
      await pause(milliseconds);
      return authorizer.line.goOn();
    case 'network_hold':
      authorizer.line.hold();
      await pause(milliseconds);
      return authorizer.line.goOn();
    case 'authorizer_clock':
      await authorizer.moveClock(offsetSeconds);
      await pause(milliseconds);
      return await authorizer.moveClock(0);
    case 'clock_step':
      await clock?.step(offsetSeconds);
      await pause(milliseconds);
      return await clock?.step(0);
    default:
      return await engines.mishaps[kind]?.(milliseconds);
  }
};
