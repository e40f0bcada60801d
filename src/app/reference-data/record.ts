import { randomUUID } from 'node:crypto';
import type { StreamName } from '../../domain/shared/ids.js';
import type { CompanyCommandDeps } from '../company/company-commands.js';
import type { CommandContext } from '../event-store/codec.js';
import type { DomainEvent } from '../event-store/event-types.js';

/** The same needs as every operator command. */
export type ReferenceDeps = CompanyCommandDeps;

/** One stream's subject: how it is folded, and what an operator wants of it. No events means "already so". */
export type Change<S, E extends DomainEvent> = {
  stream: StreamName;
  initial: S;
  evolve(state: S, event: E): S;
  decide(state: S): { events: readonly E[] };
};

/** Decides over the log, appends under the exact revision, and applies the row at once; true when something changed. */
export const recordChange = async <S, E extends DomainEvent>(
  { stream, initial, evolve, decide }: Change<S, E>,
  deps: ReferenceDeps,
): Promise<boolean> => {
  for (;;) {
    const { events, version } = await deps.store.load<E>(stream);
    const decision = decide(events.reduce<S>(evolve, initial));
    if (decision.events.length > 0) {
      if (!(await deps.store.append(stream, version, decision.events, contextOf(deps))).ok) continue;
    }
    // Also when it was so already: the process that appended it may have died before it applied it.
    await deps.applyNow(stream);
    return decision.events.length > 0;
  }
};

const contextOf = (deps: ReferenceDeps): CommandContext => {
  const commandId = randomUUID();
  return {
    commandId,
    correlationId: commandId,
    causationId: commandId,
    actor: deps.actor,
    now: deps.clock.now(),
    site: 'operate_reference_data',
  };
};
