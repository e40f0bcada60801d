import { setTimeout as pause } from 'node:timers/promises';
import { type PlainAnswer, type PlainClient, postOf } from '../plain-client.js';

export const routes = ['POST', 'GET', 'find', 'XML', 'PDF'] as const;

export type Route = (typeof routes)[number];

/** Milliseconds of each answer since the last look; `refused`: answers that were no success. */
export type Seen = { times: Record<Route, number[]>; refused: number };

export const nothingSeen = (): Seen => ({
  times: { POST: [], GET: [], find: [], XML: [], PDF: [] },
  refused: 0,
});

export type Traffic = {
  /** What one client does with one invoice, until it has its documents; resolves with false when an answer was no success. */
  invoice(): Promise<boolean>;
  /** Invoices that were begun and are not done. */
  underWay(): number;
  /** Empties what was seen. */
  take(): Seen;
};

/** Times between two looks at an invoice that is not final yet. */
const LOOK_FIRST_MS = 250;
const LOOK_LAST_MS = 4_000;
const PATIENCE_MS = 300_000;

/**
 * The companies take turns. A client accepts an invoice, reads it until it is issued, as a careful client does, ever less often, then takes the PDF
 * twice, the XML and what is found by its reference.
 */
export const createTraffic = (companies: readonly PlainClient[]): Traffic => {
  let seen = nothingSeen();
  let begun = 0;
  let underWay = 0;
  const ask = async (client: PlainClient, route: Route, path: string, body?: string): Promise<PlainAnswer> => {
    const sentAt = performance.now();
    const answer = await client.exchange(path, body);
    seen.times[route].push(performance.now() - sentAt);
    if (answer.status !== 200 && answer.status !== 202) {
      seen.refused += 1;
      throw new Refused(`${route} was answered with ${answer.status}`);
    }
    return answer;
  };
  const one = async (client: PlainClient, count: number): Promise<void> => {
    const reference = `soak-${count}`;
    const body = postOf(count, reference);
    const { id }: { id: string } = JSON.parse((await ask(client, 'POST', '/v1/nfse', body)).body.toString());
    const path = `/v1/nfse/${id}`;
    const until = performance.now() + PATIENCE_MS;
    let waitMs = LOOK_FIRST_MS;
    do {
      await pause(waitMs);
      waitMs = Math.min(LOOK_LAST_MS, waitMs * 1.5);
      if (performance.now() > until) throw new Error('an invoice was not issued in time');
    } while (!(await ask(client, 'GET', path)).body.includes('"status":"issued"'));
    await ask(client, 'PDF', `${path}/pdf`);
    await ask(client, 'XML', `${path}/xml`);
    await ask(client, 'find', `/v1/nfse?reference=${reference}`);
    await ask(client, 'PDF', `${path}/pdf`);
  };
  return {
    invoice: async () => {
      const client = companies[begun % companies.length];
      if (client === undefined) throw new Error('traffic needs companies');
      begun += 1;
      underWay += 1;
      try {
        await one(client, begun);
        return true;
      } catch (error) {
        if (error instanceof Refused) return false;
        throw error;
      } finally {
        underWay -= 1;
      }
    },
    underWay: () => underWay,
    take: () => {
      const taken = seen;
      seen = nothingSeen();
      return taken;
    },
  };
};

class Refused extends Error {
  override readonly name = 'Refused';
}

/** Begins `perSecond` invoices a second whatever the answers take; ends with the time, while the last are under way. */
export const pacedTraffic = async (traffic: Traffic, perSecond: number, milliseconds: number): Promise<void> => {
  const begun = performance.now();
  const everyMs = 1_000 / perSecond;
  const faults: unknown[] = [];
  for (let due = 0; due < milliseconds; due += everyMs * (0.5 + Math.random())) {
    await pause(Math.max(0, begun + due - performance.now()));
    if (faults.length > 0) throw faults[0];
    traffic.invoice().catch((error: unknown) => faults.push(error));
  }
};

/** The invoices that so many clients at once, each with the next right after the last, have done in a second. */
export const capacityOf = async (traffic: Traffic, clients: number, milliseconds: number): Promise<number> => {
  const begun = performance.now();
  let done = 0;
  const client = async (): Promise<void> => {
    while (performance.now() - begun < milliseconds) if (await traffic.invoice()) done += 1;
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (done / (performance.now() - begun)) * 1_000;
};
