import { Agent, request } from 'node:http';

/** What became of one POST: an answer, or the code of a connection that was refused or broke. */
export type Posted = { status: number; connection: string | undefined; id: string | undefined } | { fault: string };

export type Poster = {
  post(body: object, idempotencyKey: string): Promise<Posted>;
  close(): void;
};

/** A client without retries, on one kept connection or on a new connection for each request. */
export const createPoster = (origin: string, key: string, connections: 'kept' | 'fresh'): Poster => {
  const agent = new Agent({ keepAlive: connections === 'kept', maxSockets: 1 });
  return {
    post: (body, idempotencyKey) =>
      new Promise((resolve) => {
        const headers = {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        };
        const broken = (error: NodeJS.ErrnoException): void => resolve({ fault: error.code ?? error.name });
        request(`${origin}/v1/nfse`, { method: 'POST', agent, headers }, (response) => {
          let text = '';
          response
            .setEncoding('utf8')
            .on('data', (chunk: string) => {
              text += chunk;
            })
            .on('end', () =>
              resolve({
                status: response.statusCode ?? 0,
                connection: response.headers.connection,
                id: (JSON.parse(text) as { id?: string }).id,
              }),
            )
            .on('error', broken);
        })
          .on('error', broken)
          .end(JSON.stringify(body));
      }),
    close: () => agent.destroy(),
  };
};
