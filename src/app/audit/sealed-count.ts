import type { RecordedEvent } from '../../ports/event-log.js';
import { eventTypeDefinitions } from '../event-store/event-types.js';
import { isSealed, sealedWith } from '../event-store/sealing.js';

/** Events with something sealed under a generation of the master key that was given up: closed for ever, and no fault of the log. */
export type GivenUpCount = { generation: string; events: number };

export type SealedCount = {
  take(event: RecordedEvent): void;
  /** In the order in which they were given up, as the log says; those that sealed nothing here are left out. */
  givenUp(): readonly GivenUpCount[];
};

/** Memory grows with the generations and test days of a log. */
export const createSealedCount = (): SealedCount => {
  const sealed = new Map<string, number>();
  const lost = new Set<string>();
  return {
    take: ({ type, data }) => {
      if (type === 'MasterKeyGivenUp' && typeof data.generation === 'string') lost.add(data.generation);
      // The fields of an event are sealed together, under one key.
      const field = eventTypeDefinitions.get(type)?.personal.find((name) => isSealed(data[name]));
      const value = field === undefined ? undefined : data[field];
      const generation = isSealed(value) ? sealedWith(value)?.generation : undefined;
      if (generation !== undefined) sealed.set(generation, (sealed.get(generation) ?? 0) + 1);
    },
    givenUp: () =>
      [...lost]
        .map((generation) => ({ generation, events: sealed.get(generation) ?? 0 }))
        .filter(({ events }) => events > 0),
  };
};
