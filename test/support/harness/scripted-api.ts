import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** `cutAfter`: the connection breaks off after so many bytes of the body. */
export type ScriptedAnswer = {
  status: number;
  body: string;
  headers?: Readonly<Record<string, string>>;
  cutAfter?: number;
};

export type ScriptedApi = {
  url: string;
  /** The requests in the order in which they came; the times are those of `performance`. */
  asked: readonly { method: string; at: number }[];
  close(): Promise<void>;
};

const DOCUMENTS: readonly ScriptedAnswer[] = [
  { status: 200, body: '%PDF-1.7', headers: { 'content-type': 'application/pdf' } },
  { status: 200, body: '<NFSe/>', headers: { 'content-type': 'application/xml' } },
];

const documentAt = (path = ''): ScriptedAnswer | undefined =>
  DOCUMENTS[['pdf', 'xml'].indexOf(path.split('/').at(-1) ?? '')];

/** Gives these answers one after the other to whatever is asked but a document; the last one to everything after it. */
export const openScriptedApi = async (answers: readonly ScriptedAnswer[]): Promise<ScriptedApi> => {
  const asked: { method: string; at: number }[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    await buffer(request);
    const answer = documentAt(request.url) ?? answers[Math.min(asked.length, answers.length - 1)];
    asked.push({ method: request.method ?? '', at });
    if (answer === undefined) throw new Error('there is no answer');
    const bytes = Buffer.from(answer.body);
    response.writeHead(answer.status, { 'content-length': bytes.length, ...answer.headers });
    if (answer.cutAfter === undefined) return void response.end(bytes);
    response.write(bytes.subarray(0, answer.cutAfter), () => response.destroy());
  };
  const server = createServer((request, response) => {
    // A program that was killed has no more use for the answer.
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
