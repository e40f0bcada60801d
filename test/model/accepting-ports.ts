import { acceptedGuards } from '../../src/app/recovery/replay-guards.js';
import type { DuplicateWindow } from '../../src/ports/duplicate-window.js';
import { AppendOutcomeUnknown, type EventLog, EventLogUnavailable } from '../../src/ports/event-log.js';
import type { IdempotencyKeys } from '../../src/ports/idempotency-keys.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { createMemoryGuards, type MemoryGuards } from '../support/memory/guards.js';

/** What an api process reaches over the network; a test that breaks one must see the model find the harm. */
export type Ports = { log: EventLog; idempotency: IdempotencyKeys; duplicates: DuplicateWindow };

/** `late`: the writer gave up without an answer; the event may still be stored. */
export type AppendFate = 'goes' | 'loses its answer' | 'is late' | 'is refused by the engine';

/** Waits until it is this call's turn; resolves with the fate of the call. */
type Gate = (call: string) => Promise<AppendFate>;

/** One answer that a process got, as text; the memory of a process is a function of its answers. */
type Hear = (call: string, answer: unknown) => void;

export type Shared = { log: EventLog; guards: MemoryGuards; late: (() => Promise<unknown>)[] };

/** As long as that of the product, and shorter than an append can be late. */
const LEASE_SECONDS = 5;

/** `isOneDatabase`: the log can append together with the guards (ADR 42). */
export const createShared = (isOneDatabase: boolean): Shared => {
  const shared: Shared = {
    log: memoryEventLog(isOneDatabase ? () => shared.guards : undefined),
    guards: createMemoryGuards({ leaseSeconds: LEASE_SECONDS }),
    late: [],
  };
  return shared;
};

/** The engines as one process sees them: each call waits for its turn. */
export const gated = (shared: Shared, gate: Gate, hear: Hear): Ports => {
  const step = async <T>(call: string, run: () => Promise<T>): Promise<T> => {
    await gate(call);
    return told(call, await run());
  };
  const told = <T>(call: string, answer: T): T => {
    hear(call, answer);
    return answer;
  };
  const appending = async <T>(append: () => Promise<T>): Promise<T> => {
    switch (await gate('append')) {
      case 'goes':
        return told('append', await append());
      case 'loses its answer':
        await append();
        break;
      case 'is late':
        shared.late.push(append);
        break;
      case 'is refused by the engine':
        throw told('append', new EventLogUnavailable('the engine is away'));
    }
    throw told('append', new AppendOutcomeUnknown('no answer'));
  };
  const { appendGuarded } = shared.log;
  return {
    log: {
      ...shared.log,
      append: (...event) => appending(() => shared.log.append(...event)),
      ...(appendGuarded && { appendGuarded: (...event) => appending(() => appendGuarded(...event)) }),
      read: (...question) => step('read', () => shared.log.read(...question)),
    },
    idempotency: {
      claim: (...claim) => step('claim', () => shared.guards.idempotency.claim(...claim)),
      renew: (...fresh) => step('renew', () => shared.guards.idempotency.renew(...fresh)),
      markDone: (...done) => step('mark done', () => shared.guards.idempotency.markDone(...done)),
      release: (...lease) => step('release', () => shared.guards.idempotency.release(...lease)),
      isFinished: (...key) => step('is finished', () => shared.guards.idempotency.isFinished(...key)),
    },
    duplicates: {
      place: async (fingerprints, mark, youngerThan) => {
        const earlier = await step('place', () => shared.guards.duplicates.place(fingerprints, mark, youngerThan));
        // The process keeps the id that it drew.
        hear('own stream', mark.stream);
        return earlier;
      },
      takeOver: (...mark) => step('take over', () => shared.guards.duplicates.takeOver(...mark)),
      remove: (...mark) => step('remove', () => shared.guards.duplicates.remove(...mark)),
    },
  };
};

const WINDOWS = { idempotencySeconds: 86_400, duplicateSeconds: 60 };

/** Empties the guards. An api accepts again when the guards of all acceptances are rebuilt (ADR 14). */
export const loseGuards = async (shared: Shared, now: string, isRebuilt: boolean): Promise<void> => {
  shared.guards = createMemoryGuards({ leaseSeconds: LEASE_SECONDS });
  if (!isRebuilt) return;
  const events = await shared.log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 });
  const { keys, marks } = acceptedGuards(events, WINDOWS, now);
  for (const { bodyHash, commandId, acceptedAt, invoiceId, ...owner } of keys) {
    const leaseToken = `rebuilt ${commandId}`;
    await shared.guards.idempotency.claim(owner, bodyHash, { leaseToken, commandId, acceptedAt }, now);
    await shared.guards.idempotency.markDone(owner, leaseToken, invoiceId);
  }
  for (const { fingerprint, ...mark } of marks) {
    await shared.guards.duplicates.place({ placed: [fingerprint], legacy: fingerprint }, mark, null);
  }
};
