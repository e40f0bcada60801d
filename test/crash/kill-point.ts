import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type AppendSite, appendSites, type SendSite, sendSites } from '../../src/app/event-store/append-sites.js';
import type { EventStore, Stored } from '../../src/app/event-store/event-store.js';
import type { Authorizer } from '../../src/ports/authorizer.js';

/**
 * Where a process dies. `after` an append: stored, but without an answer. `during` a send: the authorizer has acted and
 * its answer never reaches us. `after` a send: the answer is here and not recorded.
 */
export type KillPoint = `${'before' | 'after'}:${AppendSite}` | `${'before' | 'during' | 'after'}:${SendSite}`;

export type KillOrder = {
  point: KillPoint;
  /** From 1. */
  occurrence: number;
  /** The file that gets the name of the point, as proof that the process died there and for no other reason. */
  markerFile: string;
  /** A service that comes to the point while it starts waits there until it has said that it is ready. */
  mayDie: Promise<void>;
  /** Waits until the authorizer has acted on the send under way. */
  reached(): Promise<void>;
};

export const killPointsOfAppend = (site: AppendSite) => [`before:${site}`, `after:${site}`] as const;

export const killPointsOfSend = (site: SendSite) => [`before:${site}`, `during:${site}`, `after:${site}`] as const;

const allPoints: readonly KillPoint[] = [
  ...appendSites.flatMap(killPointsOfAppend),
  ...sendSites.flatMap(killPointsOfSend),
];

export const parseKillPoint = (text: string): KillPoint => {
  const found = allPoints.find((point) => point === text);
  if (found === undefined) throw new Error(`${text} is no point to die at`);
  return found;
};

/** The two hooks of `startService`; a process without an order lives. */
export const killing = (order: KillOrder | undefined) => {
  let left = order?.occurrence ?? 0;
  const isDue = (point: KillPoint): boolean => {
    if (point !== order?.point) return false;
    left -= 1;
    return left === 0;
  };
  const dieAt = async (point: KillPoint): Promise<void> => {
    if (order !== undefined && isDue(point)) await die(order);
  };
  const send = async <T>(site: SendSite, call: () => Promise<T>): Promise<T> => {
    await dieAt(`before:${site}`);
    if (order !== undefined && isDue(`during:${site}`)) {
      void call().catch(() => undefined);
      await order.reached();
      await die(order);
    }
    const answer = await call();
    await dieAt(`after:${site}`);
    return answer;
  };
  return {
    decorateStore: (store: EventStore): EventStore => {
      const append = async <T extends Stored>(site: AppendSite, call: () => Promise<T>): Promise<T> => {
        await dieAt(`before:${site}`);
        const appended = await call();
        if (appended.ok) await dieAt(`after:${site}`);
        return appended;
      };
      const { appendGuarded } = store;
      return {
        ...store,
        append: (stream, version, events, context) =>
          append(context.site, () => store.append(stream, version, events, context)),
        ...(appendGuarded && {
          appendGuarded: (stream, event, context, guards) =>
            append(context.site, () => appendGuarded(stream, event, context, guards)),
        }),
      };
    },
    decorateAuthorizer: (authorizer: Authorizer): Authorizer => ({
      ...authorizer,
      sendDps: (...args) => send('sendDps', () => authorizer.sendDps(...args)),
      sendCancellation: (...args) => send('sendCancellation', () => authorizer.sendCancellation(...args)),
    }),
  };
};

const die = async ({ point, markerFile, mayDie }: KillOrder): Promise<never> => {
  await mayDie;
  writeFileSync(markerFile, point);
  process.kill(process.pid, 'SIGKILL');
  for (;;) await pause(1_000);
};
