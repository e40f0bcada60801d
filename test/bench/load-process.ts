import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { serveParent } from './child.js';
import { openConnection } from './http-client.js';
import { median } from './rounds.js';

export type Target = { origin: string; key: string };

/** `post`: invoices, each with a unique key and text, and on request a unique reference. `get`: these paths in turn. */
export type Load = {
  target: Target;
  what: { kind: 'post'; referenced?: boolean } | { kind: 'get'; paths: readonly string[] };
  inFlight: number;
  /** Requests that begin in a second; as many as the answers allow by default. */
  perSecond?: number;
  /** Stops at whichever comes first. */
  until: { milliseconds?: number; requests?: number };
};

export type LoadResult = { requests: number; perSecond: number; p50Ms: number; p99Ms: number };

/** Keeps `inFlight` requests on their way until the end; any answer that is no success breaks the run. */
const run = async ({ target, what, inFlight, perSecond, until }: Load): Promise<LoadResult> => {
  const connections = await Promise.all(Array.from({ length: inFlight }, () => openConnection(target.origin)));
  const { milliseconds = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY } = until;
  const latencies: number[] = [];
  const begun = performance.now();
  let sent = 0;
  const client = async ({ exchange }: Awaited<ReturnType<typeof openConnection>>): Promise<void> => {
    while (sent < requests && performance.now() - begun < milliseconds) {
      sent += 1;
      if (perSecond !== undefined) await pause(Math.max(0, begun + (sent * 1_000) / perSecond - performance.now()));
      const sentAt = performance.now();
      const status = await exchange(requestOf(target, what, sent));
      if (status < 200 || status > 299) throw new Error(`${what.kind} was answered with ${status}`);
      latencies.push(performance.now() - sentAt);
    }
  };
  await Promise.all(connections.map(client));
  const elapsedMs = performance.now() - begun;
  for (const { close } of connections) close();
  return {
    requests: latencies.length,
    perSecond: (latencies.length / elapsedMs) * 1000,
    p50Ms: median(latencies),
    p99Ms: latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0,
  };
};

const requestOf = ({ origin, key }: Target, what: Load['what'], count: number): string => {
  const head = `Host: ${new URL(origin).host}\r\nAuthorization: Bearer ${key}\r\n`;
  if (what.kind === 'get') return `GET ${what.paths[count % what.paths.length] ?? '/'} HTTP/1.1\r\n${head}\r\n`;
  const id = randomUUID();
  const body = JSON.stringify({
    amount_in_cents: 150_000 + count,
    description: `Desenvolvimento de sistema, parcela de {{mes_extenso}} de {{ano}}, pedido ${id}`,
    customer: { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
    reference: what.referenced === true ? `pedido-${id}` : undefined,
  });
  const fields = `Idempotency-Key: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST /v1/nfse HTTP/1.1\r\n${head}${fields}\r\n${body}`;
};

await serveParent<null, Load>(async () => ({ ready: true, answer: run, close: async () => undefined }));
