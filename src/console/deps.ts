import type { EventStore } from '../app/event-store/event-store.js';
import type { SettleCommand, SettleResult } from '../app/settlement/settlement.js';
import type { ParkedWork } from '../app/support/retry-parked.js';
import type { SearchDeps } from '../app/support/search.js';
import type { Mode } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';
import type { EventLog } from '../ports/event-log.js';
import type { LookupMemos } from '../ports/guards.js';
import type { ReadModel } from '../ports/read-model.js';

/** `word` is what is shown of it; colour only repeats it. */
export type Health = 'ok' | 'bad' | 'elsewhere';

export type RoleHealth = { role: string; here: boolean; health: Health; detail: string };

export type CheckHealth = { name: string; ok: boolean; detail: string };

/** Work without an outcome; `oldestSeconds` since its acceptance, or since the first attempt once there is one. */
export type WaitingWork = { what: string; mode: Mode; count: number; oldestSeconds: number };

export type ProjectionLine = {
  name: string;
  version: number;
  generation: number;
  lagSeconds: number;
  /** `progress` between 0 and 1. Not `running`: it was interrupted, and the next one goes on with it. */
  rebuilding?: { generation: number; progress: number; running: boolean };
};

/** The last rebuild that this console began of a projection. */
export type RebuildRun = { state: 'running' | 'done' | 'refused'; detail: string };

export type Rebuilds = {
  /** False while one of it runs here. It goes on when the answer is out. */
  begin(projection: string): boolean;
  of(projection: string): RebuildRun | undefined;
};

/** Who may come in, and by what name it is called. */
export type AccessRules = {
  /** Undefined: everybody who reaches the port, which is of this machine only. */
  token: string | undefined;
  /** Signs cookies and form tokens; the same in every process of the service. */
  secret(): Buffer;
  /** Host names, lower case, besides those of loopback. */
  hosts: readonly string[];
  /** Shown as the operator's name until another is typed; nobody has signed in. */
  defaultOperator: string;
};

export type ConsoleDeps = SearchDeps & {
  access: AccessRules;
  readModel: ReadModel;
  log: Pick<EventLog, 'read'>;
  store: EventStore;
  lookups: Pick<LookupMemos, 'get'>;
  queue: ParkedWork;
  simulatedModes: readonly Mode[];
  /** Asks the authorizer and records, in the operator's name. */
  settle(command: SettleCommand, operator: string): Promise<SettleResult>;
  health(): Promise<{ roles: readonly RoleHealth[]; checks: readonly CheckHealth[]; waiting: readonly WaitingWork[] }>;
  projections(): Promise<readonly ProjectionLine[]>;
  rebuilds: Rebuilds;
  version: string;
  onFault(error: unknown): void;
};

export type Operator = { name: string; signedIn: boolean; until?: Instant };
