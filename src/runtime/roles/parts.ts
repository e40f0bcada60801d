import type { DrawnPdfs } from '../../app/download/download.js';
import type { EventStore } from '../../app/event-store/event-store.js';
import type { InvoiceReader } from '../../app/read/invoice-reader.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { Simulator } from '../../simulator/options.js';
import type { Config, Role } from '../config/config.js';
import type { Logger } from '../config/logger.js';
import type { WhenReady } from '../engines/authorizers.js';
import type { DiskSpace } from '../engines/disk-space.js';
import type { Engines } from '../engines/engines.js';
import type { Runner } from '../engines/runner.js';
import type { OpenedQueue } from '../engines/work-queue.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Traces } from '../tracing/traces.js';
import type { GuardReadinessSource } from './guarded-work.js';
import type { Turns } from './turns.js';

export type ServiceOptions = {
  config: Config;
  roles: readonly Role[];
  clock: Clock;
  logger: Logger;
  /** True: the simulator, if one is needed, runs in a separate process, on the system's clock. Tests leave it in this process, on their clock. */
  simulatorProcess?: boolean;
  /** True: threads start once the service is ready. Tests leave it, and their threads start when needed. */
  warmThreads?: boolean;
  /** True: at a stop the public API keeps connections without a request for a second, as `closeServer` says. Tests leave it, and stop sooner. */
  sparesProxies?: boolean;
  /** When it aborts during a start, the start ends between two of its steps. */
  stopAsked?: AbortSignal;
  /** Runs when everything is started, before the service reports that it is ready. */
  beforeReady?: (service: Service) => Promise<void>;
  /** Crash tests stop a process in these; the product passes none. */
  decorateStore?: (store: EventStore) => EventStore;
  decorateAuthorizer?: (authorizer: Authorizer) => Authorizer;
};

export type Service = {
  /** Origin of the public API; empty without the role `api`. */
  url: string;
  opsUrl: string;
  simulator: Simulator | undefined;
  engines: Engines;
  /** Fails readiness and lets each answer end its connection for `STOP_DELAY_S`, in which balancers notice, and all else goes on. */
  leave(): Promise<void>;
  /** Fails readiness, stops accepting requests, finishes sends, then closes in reverse order of the start. */
  stop(): Promise<void>;
};

/** Everything that workers and the api of this process use. */
export type Parts = ServiceOptions & {
  engines: Engines;
  runner: Runner;
  reader: InvoiceReader;
  /** Empty without the role `api`. */
  drawn: DrawnPdfs;
  simulator: Simulator | undefined;
  queue: OpenedQueue;
  metrics: Metrics;
  traces: Traces;
  guards: GuardReadinessSource;
  diskSpace: DiskSpace;
  turns: Turns;
  /** Takes what is done after the service has reported that it is ready; the tasks follow one another, and none may reject. */
  whenReady: WhenReady;
  decorateAuthorizer: (authorizer: Authorizer) => Authorizer;
};
