import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient } from '../../src/client/client.js';
import type { Child } from './child.js';
import type { HostileAnswer } from './hostile-service-process.js';
import { invoiceOf } from './plain-client.js';

const IN_FLIGHT = 12;
const PATIENCE_MS = 90_000;
const LOOK_EVERY_MS = 100;

/** The client of the API, which looks more often than programs of others may. */
export const openApiClient = (baseUrl: string, key: string): Client =>
  createClient({ baseUrl, key, sleep: () => pause(LOOK_EVERY_MS) });

/** Posts so many invoices and waits until each of them is shown as issued; answers their ids. */
export const postUntilShown = async (client: Client, count: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  let sent = 0;
  const posting = async (): Promise<void> => {
    while (sent < count) {
      sent += 1;
      ids.push((await client.issue(invoiceOf(sent))).id);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, posting));
  for (const id of ids) {
    const { status } = await client.waitForOutcome(id, { withinMs: PATIENCE_MS });
    if (status !== 'issued') throw new Error(`an invoice ended ${status}`);
  }
  return ids;
};

/** The paths of fresh links to PDFs. */
export const linksOf = async (client: Client, ids: readonly string[]): Promise<readonly string[]> => {
  const paths: string[] = [];
  for (const id of ids) {
    const { links } = await client.get(id);
    if (links === undefined) throw new Error('an issued invoice has no links');
    const { pathname, search } = new URL(links.pdf);
    paths.push(`${pathname}${search}`);
  }
  return paths;
};

const IDLE_SECONDS_OF_PROCESSOR = 0.2;
const IDLE_WITHIN_MS = 180_000;

/** Until the service has issued what it accepted. */
export const untilIdle = async (service: Pick<Child<unknown, 'since then', HostileAnswer>, 'ask'>): Promise<void> => {
  const until = performance.now() + IDLE_WITHIN_MS;
  do {
    await service.ask('since then');
    await pause(1_000);
    if (performance.now() > until) throw new Error('the service did not come to rest');
  } while ((await service.ask('since then')).processorSeconds > IDLE_SECONDS_OF_PROCESSOR);
};
