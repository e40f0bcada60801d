import { setTimeout as pause } from 'node:timers/promises';
import { type PlainClient, postOf } from './plain-client.js';

const IN_FLIGHT = 12;
const PATIENCE_MS = 90_000;
const LOOK_EVERY_MS = 100;

/** Posts so many invoices and waits until each of them is shown as issued; answers their ids. */
export const postUntilShown = async (client: PlainClient, count: number): Promise<readonly string[]> => {
  const ids: string[] = [];
  let sent = 0;
  const posting = async (): Promise<void> => {
    while (sent < count) {
      sent += 1;
      const { status, body } = await client.exchange('/v1/nfse', postOf(sent));
      if (status !== 202) throw new Error(`an invoice was answered with ${status}`);
      ids.push((JSON.parse(body.toString()) as { id: string }).id);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, posting));
  const until = performance.now() + PATIENCE_MS;
  for (const id of ids) {
    while (!(await isIssued(client, id))) {
      if (performance.now() > until) throw new Error('not every invoice was issued in time');
      await pause(LOOK_EVERY_MS);
    }
  }
  return ids;
};

const isIssued = async (client: PlainClient, id: string): Promise<boolean> =>
  (await client.exchange(`/v1/nfse/${id}`)).body.includes('"status":"issued"');

/** The paths of fresh links to PDFs. */
export const linksOf = async (client: PlainClient, ids: readonly string[]): Promise<readonly string[]> => {
  const paths: string[] = [];
  for (const id of ids) {
    const { body } = await client.exchange(`/v1/nfse/${id}`);
    const { pathname, search } = new URL((JSON.parse(body.toString()) as { links: { pdf: string } }).links.pdf);
    paths.push(`${pathname}${search}`);
  }
  return paths;
};
