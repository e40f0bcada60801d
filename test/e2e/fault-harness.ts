import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthorizer } from '../../src/adapters/authorizer/client.js';
import { createDocumentSigner } from '../../src/adapters/authorizer/document-signer.js';
import { createEventStore, type EventStore } from '../../src/app/event-store/event-store.js';
import type { IssuerDeps } from '../../src/app/issuing/deps.js';
import { addSeconds, type Instant, isBefore } from '../../src/domain/common/time.js';
import type { Authorizer } from '../../src/ports/authorizer.js';
import type { Clock } from '../../src/ports/clock.js';
import { demoCertificate } from '../../src/runtime/operator/demo-certificate.js';
import { issueClientCertificate } from '../../src/simulator/authority.js';
import { startSimulator } from '../../src/simulator/start.js';
import type { FaultTarget } from '../../src/simulator/state/faults.js';
import type { Timers } from '../../src/simulator/timers.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { T0 } from '../support/fixture/invoice.js';
import {
  certificateBreaker,
  fixedKeys,
  type MovableClock,
  movableClock,
  openBreaker,
} from '../support/harness/event-store.js';
import { issuingHarness } from '../support/harness/issuing.js';
import { tables } from '../support/harness/simulator.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { createMemoryGuards } from '../support/memory/guards.js';
import type { Fault } from './fault-kinds.js';

export type LedgerEntry = { access_key: string; amount_in_cents: number; canceled_at?: string };

/** The real simulator over HTTP, log and database in memory, and one clock for all, which only the test moves. */
export type FaultHarness = {
  clock: MovableClock;
  timers: MovedTimers;
  store: EventStore;
  /** The simulator's control port. */
  control(path: string, body?: object): Promise<unknown>;
  order(fault: Fault, amountInCents: number): Promise<void>;
  ledger(): Promise<readonly LedgerEntry[]>;
  /** A process that works on invoices; `dies` after the answer to its first call of this kind, before it records it. */
  startIssuer(calls: CallCounts, dies: FaultTarget | undefined, patience: 'long' | 'short'): IssuerDeps;
  close(): Promise<void>;
};

export type CallCounts = { sends: number; lookUps: number; eventSends: number; eventLookUps: number };

/** Stands for the end of the process: it records nothing any more. */
export class IssuerDied extends Error {}

/**
 * Real milliseconds. Where an answer is held back it is given up soon; everywhere else a busy machine is no fault of the
 * authorizer.
 */
const PATIENCE_MS = { long: 60_000, short: 1_500 };

export const openFaultHarness = async (): Promise<FaultHarness> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-faults-'));
  const clock = movableClock(T0);
  const timers = movedTimers(clock);
  const simulator = await startSimulator({ folder, port: 0, controlPort: 0, clock, timers, tables });
  const company = { cnpj: DEMO_CNPJ, name: 'ESTUDIO EXEMPLO LTDA', clock };
  const certificate = {
    ...demoCertificate(await issueClientCertificate(folder, company)),
    certificateId: 'demo',
  };
  const clientOf = (timeoutMs: number) =>
    createAuthorizer({
      address: simulator.urls.test,
      trustRootsPem: [simulator.caPem],
      connectTimeoutMs: PATIENCE_MS.long,
      timeoutMs,
      certificateOf: async () => certificate,
      now: clock.now,
    });
  const clients = { long: clientOf(PATIENCE_MS.long), short: clientOf(PATIENCE_MS.short) };
  const store = createEventStore(memoryEventLog(), fixedKeys());
  const { deps: usual } = await issuingHarness('test', {
    store,
    clock,
    signer: createDocumentSigner(),
    lookups: createMemoryGuards().lookups,
    identityOf: async () => certificate,
  });
  const control = async (path: string, body?: object): Promise<unknown> => {
    const url = `${simulator.controlUrl}/_control/${path}`;
    const response = await fetch(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return await response.json();
  };
  return {
    clock,
    timers,
    store,
    control,
    order: async ({ delaySeconds, ...fault }, amountInCents) => {
      const delay = delaySeconds === undefined ? {} : { delay_ms: delaySeconds * 1_000 };
      await control('faults', { ...fault, ...delay, match: { amount_in_cents: amountInCents } });
    },
    ledger: async () => (await control('ledger?environment=test')) as readonly LedgerEntry[],
    startIssuer: (calls, dies, patience) =>
      // Each invoice has separate breakers, so that the faults of one invoice do not affect another.
      mortal({ ...usual, authorizer: clients[patience], breaker: openBreaker(clock) }, calls, dies),
    close: async () => {
      clients.long.close();
      clients.short.close();
      await simulator.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const mortal = (deps: IssuerDeps, calls: CallCounts, dies: FaultTarget | undefined): IssuerDeps => {
  let isDead = false;
  const counted = async <T>(count: keyof CallCounts, on: readonly FaultTarget[], call: Promise<T>): Promise<T> => {
    calls[count] += 1;
    const answer = await call;
    isDead ||= dies !== undefined && on.includes(dies);
    if (isDead) throw new IssuerDied();
    return answer;
  };
  const { authorizer, store } = deps;
  const watched: Authorizer = {
    ...authorizer,
    sendDps: (...asked) => counted('sends', ['issue'], authorizer.sendDps(...asked)),
    findByDps: (...asked) => counted('lookUps', ['lookup', 'fetch'], authorizer.findByDps(...asked)),
    sendCancellation: (...asked) => counted('eventSends', ['event'], authorizer.sendCancellation(...asked)),
    findCancellation: (...asked) => counted('eventLookUps', ['event_lookup'], authorizer.findCancellation(...asked)),
  };
  const certificates = certificateBreaker(deps.clock);
  return { ...deps, store, certificates, authorizer: certificates.watch(watched) };
};

type MovedTimers = Timers & {
  /** When the next one is due. */
  next(): Instant | undefined;
  /** Runs everything that is due by now. */
  fire(): void;
};

/** The simulator's delays, by a clock that only the test moves. */
const movedTimers = (clock: Clock): MovedTimers => {
  let waiting: { at: Instant; task: () => void }[] = [];
  const after = (delayMs: number, task: () => void): void => {
    waiting.push({ at: addSeconds(clock.now(), delayMs / 1000), task });
  };
  const take = (isDue: (at: Instant) => boolean): void => {
    const due = waiting.filter(({ at }) => isDue(at)).sort((one, other) => (isBefore(one.at, other.at) ? -1 : 1));
    waiting = waiting.filter(({ at }) => !isDue(at));
    for (const { task } of due) task();
  };
  return {
    after,
    wait: (delayMs) => new Promise((resolve) => after(delayMs, resolve)),
    next: () => waiting.map(({ at }) => at).sort()[0],
    fire: () => take((at) => !isBefore(clock.now(), at)),
    close: () => take(() => true),
  };
};
