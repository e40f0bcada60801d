import { serveParent } from './child.js';
import { openClient, postOf } from './plain-client.js';

/** Requests that a flooding client repeats: these paths in turn, or invoices, each another one. */
export type Flood = {
  origin: string;
  key?: string;
  what: { kind: 'get'; paths: readonly string[] } | { kind: 'post' };
  inFlight: number;
  milliseconds: number;
  /** Of the first path; a flood in several parts goes on where it ended. */
  from?: number;
};

export type FloodResult = { sent: number; milliseconds: number; statuses: Readonly<Record<string, number>> };

/** Sends the next request right after each answer and ignores `Retry-After`. */
const run = async ({ origin, key, what, inFlight, milliseconds, from = 0 }: Flood): Promise<FloodResult> => {
  const client = openClient(origin, key, inFlight);
  const statuses: Record<string, number> = {};
  const begun = performance.now();
  let sent = 0;
  const flooding = async (): Promise<void> => {
    while (performance.now() - begun < milliseconds) {
      const count = from + sent;
      sent += 1;
      const path = what.kind === 'get' ? (what.paths[count % what.paths.length] ?? '/') : '/v1/nfse';
      const body = what.kind === 'post' ? postOf(count) : undefined;
      const status = await client.exchange(path, body).then(
        (answer) => String(answer.status),
        () => 'no answer',
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, flooding));
  client.close();
  return { sent, milliseconds: performance.now() - begun, statuses };
};

await serveParent<null, Flood>(async () => ({ ready: true, answer: run, close: async () => undefined }));
