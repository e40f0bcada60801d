import type { AcceptDeps } from '../../src/app/accept/accept-deps.js';
import { createEventStore, type EventStore } from '../../src/app/event-store/event-store.js';
import type { IssuerDeps } from '../../src/app/issuing/deps.js';
import type { LogPosition } from '../../src/ports/event-log.js';
import { isEngineFault } from '../../src/runtime/roles/faults.js';
import { runIssuer } from '../../src/workers/issuer.js';
import { runRelay } from '../../src/workers/relay.js';
import { type Sweeper, sweep } from '../../src/workers/sweeper.js';
import { gated, type Shared } from '../model/accepting-ports.js';
import { DEMO_CNPJ, demoCompany } from '../support/fixture/demo.js';
import { limits } from '../support/fixture/invoice.js';
import { acceptHarness } from '../support/harness/accept.js';
import { certificateBreaker, fixedKeys, openBreaker } from '../support/harness/event-store.js';
import { fakeSigner } from '../support/harness/issuing.js';
import { authorizerFor, type Ledger } from './authorizer-double.js';
import type { Choices } from './choices.js';
import type { createTimers } from './read-model.js';
import type { Process, Scheduler } from './scheduler.js';
import type { WorkBag } from './work-bag.js';

/** What no crash touches: the engines and the authorizer. */
export type Surviving = {
  scheduler: Scheduler;
  choices: Choices;
  shared: Shared;
  ledger: Ledger;
  bag: WorkBag;
  timers: ReturnType<typeof createTimers>;
  /** Of the relay; undefined behind it. */
  relayed: { after: LogPosition | null };
  /** No fault begins any more. */
  isPeaceful(): boolean;
};

export const ROLES = ['api', 'api', 'issuer', 'issuer', 'relay', 'sweeper'] as const;
type RoleName = (typeof ROLES)[number];

/** What a client needs of an api process. */
export type Api = { process: Process; store: EventStore; acceptDeps: AcceptDeps };

export type Member = { role: RoleName; process: Process; api?: Api };

const LANES = 2;
const SWEEP_SECONDS = 60;

/** Of a thousand appends. */
const APPEND_FAULTS = 60;

const portsOf = (process: Process, { shared, choices, isPeaceful }: Surviving) =>
  gated(
    shared,
    async (call) => {
      await process.turn(call);
      if (call !== 'append' || isPeaceful() || !choices.chance(APPEND_FAULTS)) return 'goes';
      return (['loses its answer', 'is late', 'is refused by the engine'] as const)[choices.below(3)] ?? 'goes';
    },
    () => undefined,
  );

/** Starts a process of the role with empty memory, by the product's own code. */
export const startMember = (role: RoleName, name: string, surviving: Surviving): Member => {
  const { scheduler, shared, bag, relayed } = surviving;
  const { clock } = scheduler;
  const process = scheduler.start(name);
  const ports = portsOf(process, surviving);
  const store = createEventStore(ports.log, fixedKeys());
  const certificates = certificateBreaker(clock);
  const deps: IssuerDeps = {
    store,
    authorizer: certificates.watch(authorizerFor(process, surviving)),
    breaker: openBreaker(clock),
    certificates,
    signer: fakeSigner,
    lookups: {
      get: async (...key) => {
        await process.turn('reads look-ups');
        return await shared.guards.lookups.get(...key);
      },
      put: async (...progress) => {
        await process.turn('keeps a look-up');
        await shared.guards.lookups.put(...progress);
      },
      forget: (stream) => shared.guards.lookups.forget(stream),
    },
    clock,
    limits,
    company: async () => demoCompany(DEMO_CNPJ),
    identityOf: async () => ({ privateKeyPem: 'key', certificatePem: 'certificate' }),
    currencyCode: () => undefined,
    actor: role === 'sweeper' ? 'timer:sweeper' : 'worker:issuer',
    notify: () => undefined,
  };
  const { signal } = new AbortController();
  const onFault = (): void => undefined;
  switch (role) {
    case 'api': {
      const acceptDeps: AcceptDeps = {
        ...acceptHarness().deps,
        store,
        idempotency: ports.idempotency,
        duplicates: ports.duplicates,
        underWay: new Map(),
        clock,
      };
      return { role, process, api: { process, store, acceptDeps } };
    }
    case 'issuer':
      void runIssuer({
        queue: bag.queueOf(process),
        deps,
        concurrency: LANES,
        signal,
        inTurn: (_company, task) => task(),
        isEngineFault,
        onFault,
      });
      return { role, process };
    case 'relay':
      void runRelay({
        log: shared.log,
        queue: bag.queueOf(process),
        after: relayed.after,
        signal,
        onRelayed: async (position) => {
          await process.turn('notes how far it is');
          relayed.after = position;
        },
        onInterrupted: onFault,
      });
      return { role, process };
    case 'sweeper':
      void sweepOnAndOn(process, deps, surviving);
      return { role, process };
  }
};

const sweepOnAndOn = async (process: Process, deps: IssuerDeps, surviving: Surviving): Promise<void> => {
  const { shared, bag, timers, choices, isPeaceful } = surviving;
  for (let number = 1; ; number += 1) {
    await process.sleep(SWEEP_SECONDS);
    await process.turn('sweeps');
    // The rows may be behind the log.
    if (isPeaceful() || !choices.chance(300)) await timers.catchUp();
    const sweeper: Sweeper = {
      readModel: timers.readModel,
      log: shared.log,
      queue: bag.queueOf(process),
      cuts: shared.guards.cuts,
      previousGeneration: { end: async () => undefined },
      deps,
      inTrace: (_stream, conclude) => conclude(),
      onFault: () => undefined,
    };
    await sweep(sweeper, number).catch(() => undefined);
  }
};
