import { once } from 'node:events';
import { Agent, type ClientRequest, request } from 'node:http';

/** What became of one POST: an answer, or the code of a connection that was refused or broke. */
export type Posted = { status: number; connection: string | undefined; id: string | undefined } | { fault: string };

export type Poster = {
  post(body: object, idempotencyKey: string): Promise<Posted>;
  /** Resolves once the server has the head of the request; `finish` sends the body. */
  begin(body: object, idempotencyKey: string): Promise<{ finish(): Promise<Posted> }>;
  close(): void;
};

/** A client without retries, on one kept connection or on a new connection for each request. */
export const createPoster = (origin: string, key: string, connections: 'kept' | 'fresh'): Poster => {
  const agent = new Agent({ keepAlive: connections === 'kept', maxSockets: 1 });
  const open = (
    idempotencyKey: string,
    own: Readonly<Record<string, string>>,
  ): { sent: ClientRequest; answer: Promise<Posted> } => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
      ...own,
    };
    const sent = request(`${origin}/v1/nfse`, { method: 'POST', agent, headers });
    return { sent, answer: answerTo(sent) };
  };
  return {
    post: (body, idempotencyKey) => {
      const { sent, answer } = open(idempotencyKey, {});
      sent.end(JSON.stringify(body));
      return answer;
    },
    begin: async (body, idempotencyKey) => {
      const { sent, answer } = open(idempotencyKey, { expect: '100-continue' });
      sent.flushHeaders();
      await once(sent, 'continue');
      return {
        finish: () => {
          sent.end(JSON.stringify(body));
          return answer;
        },
      };
    },
    close: () => agent.destroy(),
  };
};

const answerTo = (sent: ClientRequest): Promise<Posted> =>
  new Promise((resolve) => {
    const broken = (error: NodeJS.ErrnoException): void => resolve({ fault: error.code ?? error.name });
    sent.on('error', broken).on('response', (response) => {
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
    });
  });
