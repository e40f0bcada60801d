import { LATE_APPEND_SECONDS } from '../../src/app/accept/reserve.js';
import { sha256Hex, uuidV8OfHash } from '../../src/app/event-store/hashes.js';
import { addSeconds } from '../../src/domain/common/time.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../src/ports/event-log.js';
import type { KeyedGuards } from '../../src/ports/keyed-guards.js';
import type { Ports, Shared } from './accepting-ports.js';

/** Engines that each break one promise of docs/architecture.md#uniqueness; the model must find the breach that follows. */
export type Sabotage = (ports: Ports, shared: Shared) => Ports;

type Append = Ports['log']['append'];

/** The log writes the text of each event itself, because the text that came with it is of the event before the change. */
const withAppend =
  (change: (append: Append, ports: Ports) => Append): Sabotage =>
  (ports) => ({
    ...ports,
    log: {
      ...ports.log,
      append: change(
        (stream, expected, events) =>
          ports.log.append(
            stream,
            expected,
            events.map(({ hashText: _text, ...event }) => event),
          ),
        ports,
      ),
    },
  });

const withKeys =
  (change: (keys: Ports['idempotency']) => Partial<Ports['idempotency']>): Sabotage =>
  (ports) => ({
    ...ports,
    idempotency: { ...ports.idempotency, ...change(ports.idempotency) },
  });

const withWindow =
  (change: (window: Ports['duplicates'], shared: Shared) => Partial<Ports['duplicates']>): Sabotage =>
  (ports, shared) => ({
    ...ports,
    duplicates: { ...ports.duplicates, ...change(ports.duplicates, shared) },
  });

export const appendsAnywhere = withAppend((append, { log }) => async (stream, expected, events) => {
  const last = await log.lastEvent(stream);
  return append(stream, last === null ? expected : { kind: 'exact', revision: last.revision }, events);
});

export const givesEachTryItsOwnStream = withAppend(
  (append) => (stream, expected, events) => append(`${stream}~${events[0]?.id}` as typeof stream, expected, events),
);

export const derivesEventIdsFromTheStream = withAppend(
  (append) => (stream, expected, events) =>
    append(
      stream,
      expected,
      events.map((event) => ({ ...event, id: uuidV8OfHash(sha256Hex(stream)) })),
    ),
);

export const leavesTheKeyOutOfTheEvent = withAppend(
  (append) => (stream, expected, events) =>
    append(
      stream,
      expected,
      events.map(({ data: { idempotency: _, ...data }, ...event }) => ({ ...event, data })),
    ),
);

export const takesUncertainForNotStored = withAppend(
  (append) =>
    (...asked) =>
      append(...asked).catch((error: unknown) => {
        throw error instanceof AppendOutcomeUnknown ? new EventLogUnavailable('taken for one') : error;
      }),
);

export const takesAnybodysEventForItsOwn = withAppend((append, { log }) => async (stream, expected, events) => {
  try {
    return await append(stream, expected, events);
  } catch (error) {
    const last = await log.lastEvent(stream);
    if (error instanceof AppendOutcomeUnknown && last !== null) return { ok: true, revision: last.revision };
    throw error;
  }
});

export const grantsEveryClaim = withKeys((keys) => ({
  claim: async (owner, bodyHash, fresh, ...rest) => {
    const claimed = await keys.claim(owner, bodyHash, fresh, ...rest);
    return claimed.kind === 'claimed' ? claimed : { kind: 'claimed', claim: fresh };
  },
}));

export const forgetsTheFirstCommand = withKeys((keys) => ({
  claim: async (owner, bodyHash, fresh, ...rest) => {
    const claimed = await keys.claim(owner, bodyHash, fresh, ...rest);
    return claimed.kind === 'claimed' ? { kind: 'claimed', claim: fresh } : claimed;
  },
}));

export const takesEveryClaimForAnOldOne = withKeys((keys) => ({
  claim: async (owner, bodyHash, fresh, ...rest) => {
    const claimed = await keys.claim(owner, bodyHash, fresh, ...rest);
    if (claimed.kind !== 'claimed' || claimed.claim.commandId === fresh.commandId) return claimed;
    return { kind: 'claimed', claim: { ...claimed.claim, acceptedAt: '2000-01-01T00:00:00.000Z' } };
  },
}));

export const takesEveryBodyForTheSame = withKeys((keys) => ({
  claim: (owner, _bodyHash, fresh, now) => keys.claim(owner, 'a body', fresh, now),
}));

export const keepsRefusedKeys = withKeys(() => ({ release: async () => undefined }));

export const releasesWhatOthersHold: Sabotage = (ports, shared) => ({
  ...ports,
  idempotency: {
    ...ports.idempotency,
    release: async (owner, leaseToken, now) => {
      await ports.idempotency.release(owner, leaseToken, now);
      const [row] = shared.guards.contents().keys;
      if (row !== undefined) await shared.guards.idempotency.release(owner, row.leaseToken, now);
    },
  },
});

export const letsKeyedRequestsLeaveNoMark = withWindow((window) => ({
  place: async (fingerprints, mark, youngerThan) =>
    youngerThan === null ? undefined : await window.place(fingerprints, mark, youngerThan),
}));

export const placesOverOldMarks = withWindow((window) => ({
  place: (fingerprints, mark, youngerThan) =>
    window.place(fingerprints, mark, youngerThan === null ? null : addSeconds(mark.at, -LATE_APPEND_SECONDS)),
}));

export const removesMarksOfOthers = withWindow((window, shared) => ({
  remove: async (fingerprints, own) => {
    await window.remove(fingerprints, own);
    const mark = shared.guards.contents().marks.find(({ stream }) => stream === own.stream);
    if (mark !== undefined) await shared.guards.duplicates.remove(fingerprints, mark);
  },
}));

export const neverRemovesMarks = withWindow(() => ({ remove: async () => undefined }));

/** What an append with guards stores beside the event, or asks before it. */
const withGuards =
  (change: (guards: KeyedGuards) => KeyedGuards): Sabotage =>
  ({ log: { appendGuarded, ...log }, ...ports }) => ({
    ...ports,
    log: {
      ...log,
      ...(appendGuarded && {
        appendGuarded: (stream, event, guards) => appendGuarded(stream, event, change(guards)),
      }),
    },
  });

export const storesAnotherKey = withGuards((guards) => ({
  ...guards,
  owner: { ...guards.owner, keyHash: guards.claim.leaseToken },
}));

export const storesAnotherMark = withGuards((guards) => ({
  ...guards,
  fingerprints: { placed: [guards.claim.leaseToken], legacy: '' },
}));

export const forgetsReleasedKeys: Sabotage = (ports, shared) => ({
  ...ports,
  idempotency: {
    ...ports.idempotency,
    release: async (owner, ...lease) => {
      await ports.idempotency.release(owner, ...lease);
      shared.guards.forget(owner);
    },
  },
});
