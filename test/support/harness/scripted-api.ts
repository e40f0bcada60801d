import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type LocalServer, openLocalServer } from './local-server.js';

/** `cutAfter`: the connection breaks off after so many bytes of the body. */
export type ScriptedAnswer = {
  status: number;
  body: string;
  headers?: Readonly<Record<string, string>>;
  cutAfter?: number;
};

export type ScriptedApi = LocalServer & {
  /** The requests in the order in which they came; the times are those of `performance`. */
  asked: readonly { method: string; path: string; at: number }[];
};

const DOCUMENTS: ReadonlyMap<string, ScriptedAnswer> = new Map([
  ['pdf', { status: 200, body: '%PDF-1.7', headers: { 'content-type': 'application/pdf' } }],
  ['xml', { status: 200, body: '<NFSe/>', headers: { 'content-type': 'application/xml' } }],
]);

const documentAt = (path = ''): ScriptedAnswer | undefined => DOCUMENTS.get(path.split('/').at(-1) ?? '');

/** Answers a request for a document with one, and all others with these answers one after the other, the last one for good. */
export const openScriptedApi = async (answers: readonly ScriptedAnswer[]): Promise<ScriptedApi> => {
  const asked: { method: string; path: string; at: number }[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    await buffer(request);
    const answer = documentAt(request.url) ?? answers[Math.min(asked.length, answers.length - 1)];
    asked.push({ method: request.method ?? '', path: request.url ?? '', at });
    if (answer === undefined) throw new Error('there is no answer');
    const bytes = Buffer.from(answer.body);
    response.writeHead(answer.status, { 'content-length': bytes.length, ...answer.headers });
    if (answer.cutAfter === undefined) return void response.end(bytes);
    response.write(bytes.subarray(0, answer.cutAfter), () => response.destroy());
  };
  const { url, close } = await openLocalServer(handle);
  return { url, close, asked };
};
