import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { IssueRequest } from '../../src/client/client.js';

export type PlainAnswer = { status: number; body: Buffer };

/**
 * Keep-alive connections to one origin; `close` ends them. Not the client of the API: a request that is timed, or that floods, is sent once, and costs the
 * machine little.
 */
export const openClient = (origin: string, key: string | undefined, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return {
    /** With a body it is a POST. Rejects when the connection breaks. */
    exchange: (path: string, body?: string): Promise<PlainAnswer> =>
      new Promise((resolve, reject) => {
        const method = body === undefined ? 'GET' : 'POST';
        const fields =
          body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': body.length, 'idempotency-key': randomUUID() };
        const sent = request(
          `${origin}${path}`,
          { agent, method, headers: { ...authorization, ...fields } },
          (answer) => {
            const chunks: Buffer[] = [];
            answer.on('data', (chunk: Buffer) => chunks.push(chunk));
            answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }));
            answer.on('error', reject);
          },
        );
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
};

export type PlainClient = ReturnType<typeof openClient>;

/** A unique invoice. */
export const invoiceOf = (count: number): IssueRequest => ({
  amount_in_cents: 150_000 + count,
  description: `Desenvolvimento de sistema, pedido ${randomUUID()}`,
  customer: { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
});

/** A unique invoice as a body; without a reference by default. */
export const postOf = (count: number, reference?: string): string => JSON.stringify({ ...invoiceOf(count), reference });
