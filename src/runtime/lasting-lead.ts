import type { LeaderSession } from '../workers/projection-leader.js';

/** Leads until the session is lost: asked again and again, it takes the lock once. Undefined while another process leads. */
export const lastingLead = (session: LeaderSession, name: string, signal: AbortSignal) => {
  let leading: AbortSignal | undefined;
  return async (): Promise<AbortSignal | undefined> => {
    if (leading === undefined || leading.aborted) leading = await session.tryLead(name, signal);
    return leading;
  };
};
