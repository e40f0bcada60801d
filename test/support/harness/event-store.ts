import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../../../src/app/event-store/command-context.js';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import type { DomainEvent } from '../../../src/app/event-store/event-types.js';
import { type Breaker, createBreaker } from '../../../src/app/issuing/breaker.js';
import { type CertificateBreaker, createCertificateBreaker } from '../../../src/app/issuing/certificate-breaker.js';
import type { Mode, StreamName } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Fingerprints } from '../../../src/ports/duplicate-window.js';
import type { GuardKey, GuardKeys } from '../../../src/ports/guard-keys.js';
import type { SealingKeys } from '../../../src/ports/sealing-keys.js';
import { DEMO_CNPJ, demoCompany } from '../fixture/demo.js';
import { memoryRefusals } from '../memory/certificate-refusals.js';

/** For `rowFollows` where every row has to be applied at once. */
export const rethrow = (fault: unknown): never => {
  throw fault;
};

/** A clock that only the test moves, forwards. */
export type MovableClock = Clock & { pass(seconds: number): void; moveTo(at: Instant): void };

export const movableClock = (start: Instant): MovableClock => {
  let now = start;
  return {
    now: () => now,
    pass: (seconds) => {
      now = addSeconds(now, seconds);
    },
    moveTo: (at) => {
      if (at > now) now = at;
    },
  };
};

/** One key per generation, never lost unless the test destroys it. */
export const fixedKeys = (): SealingKeys & { destroy(generation: string): void } => {
  const destroyed = new Set<string>();
  return {
    forSealing: async (mode) => ({ generation: generationOf[mode], key: keyOf(generationOf[mode]) }),
    forOpening: async (generation) => (destroyed.has(generation) ? undefined : keyOf(generation)),
    destroy: (generation) => destroyed.add(generation),
  };
};

/** One guard key per mode, which never changes. */
export const fixedGuardKeys = (): GuardKeys => ({
  inUse: async (mode) => [guardKeyOf(mode)],
  ofTag: async (tag) => keyOf(`guard ${tag}`),
});

export const guardKeyOf = (mode: Mode): GuardKey => {
  const tag = generationOf[mode];
  return { tag, key: keyOf(`guard ${tag}`) };
};

/** The mark of a request with a single fingerprint in the duplicate window. */
export const knownAs = (...placed: [string, ...string[]]): Fingerprints => ({ placed, legacy: `plain ${placed[0]}` });

export const generationOf = { live: 'm1', test: 't2026-11-21' } as const;

const keyOf = (generation: string): Buffer => Buffer.alloc(32, generation);

export const contextAt = (now: Instant, overrides: Partial<CommandContext> = {}): CommandContext => ({
  commandId: randomUUID(),
  correlationId: 'req_1',
  causationId: 'req_1',
  actor: 'worker:test',
  now,
  site: 'accept_invoice',
  ...overrides,
});

/** Appends at the end of the stream, as another process would. */
export const appendTo = async (
  store: EventStore,
  stream: StreamName,
  events: readonly DomainEvent[],
  now: Instant,
  overrides: Partial<CommandContext> = {},
): Promise<void> => {
  const { version } = await store.load(stream);
  const { ok } = await store.append(stream, version, events, contextAt(now, overrides));
  if (!ok) throw new Error('another writer in a test of one writer');
};

/** A breaker at the contract's windows, without chance. */
export const openBreaker = (clock: Clock): Breaker =>
  createBreaker({ clock, leaseSeconds: 60, shortestWindowSeconds: 900, chance: () => 0, onChange: () => undefined });

/** The breaker of certificates over refusals in memory; it watches no authorizer unless the test makes it. */
export const certificateBreaker = (
  clock: Clock,
  options: Partial<Parameters<typeof createCertificateBreaker>[0]> = {},
): CertificateBreaker =>
  createCertificateBreaker({
    refusals: memoryRefusals(),
    clock,
    company: async () => demoCompany(DEMO_CNPJ),
    shortestWindowSeconds: 900,
    onChange: () => undefined,
    onFault: () => undefined,
    ...options,
  });
