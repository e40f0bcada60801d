import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import type { KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';

type Received = {
  method: string;
  path: string;
  body: string;
  peer: string;
  /** SHA-256 of the client's certificate. */
  fingerprint: string;
  socket: Socket;
};

export type Answer = (received: Received, response: ServerResponse) => void;

/** A real HTTPS server that demands a client certificate and answers as the test says. */
export type AuthorizerServer = {
  address: string;
  received: Received[];
  answer(next: Answer): void;
  close(): Promise<void>;
};

export const startAuthorizerServer = async (
  authority: KeyAndCertificate,
  server: KeyAndCertificate,
): Promise<AuthorizerServer> => {
  const received: Received[] = [];
  let current: Answer = (_received, response) => response.end();
  const listener = createServer(
    { key: server.privateKeyPem, cert: server.certificatePem, ca: authority.certificatePem, requestCert: true },
    (request, response) => {
      readBody(request).then(
        (body) => {
          const call = { method: request.method ?? '', path: request.url ?? '', body, ...peerOf(request.socket) };
          received.push(call);
          current(call, response);
        },
        () => response.destroy(),
      );
    },
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    address: `https://127.0.0.1:${portOf(listener)}/SefinNacional`,
    received,
    answer: (next) => {
      current = next;
    },
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        listener.closeAllConnections();
      }),
  };
};

const portOf = (listener: Server): number => (listener.address() as AddressInfo).port;

const peerOf = (socket: Socket): Pick<Received, 'peer' | 'fingerprint' | 'socket'> => {
  // No answer on a connection that its client has ended meanwhile.
  const certificate: PeerCertificate | null = (socket as TLSSocket).getPeerCertificate();
  const { subject, fingerprint256 = '' } = certificate ?? {};
  const name: unknown = subject?.CN;
  return { peer: typeof name === 'string' ? name : '', fingerprint: fingerprint256, socket };
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

export const json =
  (status: number, body: unknown): Answer =>
  (_received, response) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(body));
  };

/** Answers exactly this text with this content type. */
export const raw =
  (status: number, text: string, contentType = 'application/json'): Answer =>
  (_received, response) => {
    response.writeHead(status, { 'content-type': contentType });
    response.end(text);
  };

export const html =
  (status: number): Answer =>
  (_received, response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end('<html><body>Service Unavailable</body></html>');
  };

/** The document inside a request's only field. */
export const unpacked = (body: string, field: string): string => {
  const packed: unknown = JSON.parse(body)[field];
  return gunzipSync(Buffer.from(String(packed), 'base64')).toString('utf8');
};
