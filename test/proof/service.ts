import { mkdir } from 'node:fs/promises';
import { freePort } from '../support/free-port.js';
import type { AuthorizerOfRun } from './authorizer.js';
import type { Engines } from './engines.js';
import { type Program, SHIPPED, startNfse } from './program.js';
import type { Recorder } from './recorder.js';
import type { ServiceClock } from './service-clock.js';

/** The processes of the service: one, or several over the same engines. */
export type Service = {
  /** Environment of the operator's commands. */
  env: Readonly<Record<string, string>>;
  /** Of the processes that are not down or frozen, or of all when none is up. */
  origins(): readonly string[];
  /** SIGKILL, and a new process on the same data. */
  kill(index: number): Promise<void>;
  /** SIGTERM, and a new process. */
  drain(index: number): Promise<void>;
  /** SIGSTOP, then SIGCONT. */
  freeze(index: number, milliseconds: number): Promise<void>;
  processes: number;
  stop(): Promise<void>;
};

/** Short pauses of the protocol, so that a run of minutes shows all of it; the limits of the contract stay as they are. */
const PACE = {
  AUTHORIZER_TIMEOUT_S: '2',
  LOOKUP_INTERVALS_S: '1,2,3,5',
  SWEEP_INTERVAL_S: '2',
  RATE_READ_PER_MINUTE: '1000000',
  RATE_WRITE_PER_MINUTE: '1000000',
  OPS_PORT: '0',
  LOG_LEVEL: 'info',
} as const;

const STARTS_WITHIN_MS = 60_000;
const STARTS = 5;

type Member = { program: Program; origin: string; isUp: boolean };

/** `shipped`: what `npm start` runs, unless a test takes a broken service. */
export const startService = async (
  engines: Engines,
  authorizer: AuthorizerOfRun,
  recorder: Recorder,
  clock: ServiceClock | undefined,
  shipped = SHIPPED,
): Promise<Service> => {
  const common: Readonly<Record<string, string>> = {
    ...PACE,
    ...engines.env,
    AUTHORIZER_TEST_URL: authorizer.urls.test,
    AUTHORIZER_LIVE_URL: authorizer.urls.live,
    AUTHORIZER_CA_FILE: authorizer.caFile,
    SIMULATED_MODES: 'test,live',
  };
  const members: Member[] = [];
  const ports: number[] = [];
  let isStopping = false;

  const envOf = async (index: number): Promise<Record<string, string>> => {
    const folder = index === 0 ? (engines.env.DATA_DIR ?? '') : `${engines.env.DATA_DIR}-${index}`;
    await mkdir(folder, { recursive: true });
    return { ...common, ...clock?.env, DATA_DIR: folder, PORT: String(ports[index]) };
  };

  /** A start that fails because an engine is down at that moment is made again, as a service manager does. */
  const start = async (index: number): Promise<void> => {
    const env = await envOf(index);
    for (let tries = 1; ; tries += 1) {
      const program = startNfse(['serve'], env, recorder.serviceLog, shipped);
      try {
        const ready = await within(STARTS_WITHIN_MS, program.ready, () => program.signal('SIGKILL'));
        const member = { program, origin: String(ready.url), isUp: true };
        members[index] = member;
        void program.ended.then(({ code, signal }) => {
          if (isStopping || !member.isUp) return;
          member.isUp = false;
          recorder.trouble(`the service ended by itself with ${code ?? signal}`);
          void start(index).catch(() => undefined);
        });
        return;
      } catch (error) {
        if (isStopping) return;
        if (tries < STARTS) continue;
        recorder.trouble(
          `the service does not start: ${error instanceof Error ? error.message.slice(0, 300) : 'why?'}`,
        );
        throw error;
      }
    }
  };

  const end = async (index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    const member = members[index];
    if (member === undefined) return;
    member.isUp = false;
    member.program.signal(signal);
    const { code } = await member.program.ended;
    if (signal === 'SIGTERM' && code !== 0) recorder.trouble(`the service was told to stop and ended with ${code}`);
  };

  for (let index = 0; index < engines.processes; index += 1) ports.push(await freePort());
  for (let index = 0; index < engines.processes; index += 1) await start(index);
  return {
    env: common,
    processes: engines.processes,
    origins: () => {
      const up = members.filter(({ isUp }) => isUp);
      return (up.length > 0 ? up : members).map(({ origin }) => origin);
    },
    kill: async (index) => {
      await end(index, 'SIGKILL');
      await start(index);
    },
    drain: async (index) => {
      await end(index, 'SIGTERM');
      await start(index);
    },
    freeze: async (index, milliseconds) => {
      const member = members[index];
      if (member === undefined) return;
      member.program.signal('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      member.program.signal('SIGCONT');
    },
    stop: async () => {
      isStopping = true;
      for (const { program } of members) {
        program.signal('SIGCONT');
        program.signal('SIGTERM');
      }
      await Promise.all(
        members.map(({ program }) =>
          within(STARTS_WITHIN_MS, program.ended, () => program.signal('SIGKILL')).catch(() => undefined),
        ),
      );
    },
  };
};

/** Rejects after the bound, and calls `tooLate`. */
const within = async <T>(milliseconds: number, work: Promise<T>, tooLate: () => void): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      tooLate();
      reject(new Error(`not within ${milliseconds / 1000} s`));
    }, milliseconds);
  });
  return await Promise.race([work, bound]).finally(() => clearTimeout(timer));
};
