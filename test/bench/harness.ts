import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '../../src/runtime/config/config.js';
import { type Child, startChild } from './child.js';
import type { Load, LoadResult } from './load-process.js';
import type { ServiceArgument, ServiceQuestion, ServiceReady } from './service-process.js';

/** Far above the rate of any run: the limiter works and refuses no request. */
export const RATES = { RATE_WRITE_PER_MINUTE: '1000000', RATE_READ_PER_MINUTE: '1000000' };

export type BenchHarness = {
  home: string;
  service: Service;
  /** The process that sends the requests of `load`. */
  loaderPid: number;
  load(load: Load): Promise<LoadResult>;
  /** Stopped with the harness, last started first. */
  alsoStop(stop: () => Promise<unknown>): void;
};

type Service = Child<ServiceReady, ServiceQuestion, number>;

/** `serviceFlags`: of Node, for the service's process. */
export type Surroundings = Pick<ServiceArgument, 'certificatesFrom'> & {
  env?: Record<string, string>;
  serviceFlags?: readonly string[];
};

/** A service and a load generator, each in a separate process, in a folder that is removed afterwards. */
export const withBenchHarness = async <T>(
  roles: readonly Role[],
  measure: (harness: BenchHarness) => Promise<T>,
  prepare: (home: string, alsoStop: BenchHarness['alsoStop']) => Promise<Surroundings> = async () => ({}),
): Promise<T> => {
  const stops: (() => Promise<unknown>)[] = [];
  const alsoStop: BenchHarness['alsoStop'] = (stop) => stops.push(stop);
  const home = await mkdtemp(join(tmpdir(), 'nfse-bench-'));
  try {
    // As root the database runs as another user, who must be able to pass through.
    await chmod(home, 0o711);
    const { env = {}, serviceFlags = [], ...rest } = await prepare(home, alsoStop);
    const argument: ServiceArgument = {
      env: { PORT: '0', OPS_PORT: '0', DATA_DIR: join(home, 'data'), ...RATES, ...env },
      roles,
      ...rest,
    };
    const service: Service = await startChild('service-process.ts', argument, { flags: serviceFlags });
    alsoStop(service.stop);
    const loader = await startChild<true, Load, LoadResult>('load-process.ts', null);
    alsoStop(loader.stop);
    return await measure({ home, service, loaderPid: loader.pid, load: loader.ask, alsoStop });
  } finally {
    for (const stop of stops.reverse()) await stop();
    await rm(home, { recursive: true, force: true });
  }
};
