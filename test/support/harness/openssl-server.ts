import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';

/** What the server does with the whole request; `heard` is all of openssl's output so far, which includes the request. */
export type Turn = (server: OpensslServer, output: string) => void | Promise<void>;

export type OpensslServer = {
  address: string;
  /** All of openssl's output, including the client's certificate after a renegotiation. */
  output(): string;
  /** Asks for the client's certificate by a second handshake on the open connection; resolves when that is done. */
  renegotiate(): Promise<void>;
  /** Sends this text to the client unchanged. */
  write(text: string): void;
  stop(): Promise<void>;
};

type Files = { server: KeyAndCertificate; clientAuthority: KeyAndCertificate };

/**
 * `openssl s_server` over TLS 1.2: the first handshake asks for no certificate, and its standard input is its operator, where
 * `R` at the start of a write renegotiates and demands one, which a resumed session would not bring. `strict`: one that it
 * does not trust ends it.
 */
export const startOpensslServer = async (
  { server, clientAuthority }: Files,
  onRequest: Turn,
  strict = false,
): Promise<OpensslServer> => {
  const folder = mkdtempSync(join(tmpdir(), 's-server-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const child = spawn('openssl', [
    's_server',
    '-accept',
    '127.0.0.1:0',
    '-tls1_2',
    '-no_resumption_on_reneg',
    '-no_ticket',
    '-state',
    '-cert',
    file('server.pem', server.certificatePem),
    '-key',
    file('server.key', server.privateKeyPem),
    '-CAfile',
    file('clients.pem', clientAuthority.certificatePem),
    ...(strict ? ['-verify_return_error'] : []),
  ]);
  // A write to a server that is ending may fail, and that is no fault of the test.
  child.stdin.on('error', () => undefined);
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const port = await listeningPort(child, (text) => {
    output += text;
  });
  const opened: OpensslServer = {
    address: `https://127.0.0.1:${port}/SefinNacional`,
    output: () => output,
    renegotiate: () => {
      const before = handshakes(output);
      child.stdin.write('R\n');
      return new Promise((resolve) => {
        const look = (): void => {
          if (handshakes(output) > before) resolve();
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
      });
    },
    write: (text) => child.stdin.write(text),
    stop: async () => {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  let asked = false;
  child.stdout.on('data', () => {
    if (asked || !isWhole(output)) return;
    asked = true;
    void onRequest(opened, output);
  });
  return opened;
};

/** The port that it was given, from its line `ACCEPT 127.0.0.1:PORT`; rejects when it ends without one. */
const listeningPort = (child: ChildProcessWithoutNullStreams, onText: (text: string) => void): Promise<string> =>
  new Promise((resolve, reject) => {
    let output = '';
    const hear = (chunk: Buffer): void => {
      output += chunk.toString('latin1');
      onText(chunk.toString('latin1'));
      const port = /ACCEPT 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve(port);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`openssl s_server ended: ${output}`)));
  });

/** `-state` tells each step of a handshake; this is the last one of the server. */
const handshakes = (output: string): number => output.split('SSLv3/TLS write finished').length - 1;

/** Head and JSON body of a POST, or the head of a GET. */
const isWhole = (output: string): boolean => {
  const request = /(?:POST|GET) [^\r]+ HTTP\/1\.1\r\n[\s\S]*?\r\n\r\n/.exec(output);
  if (request === null) return false;
  const length = Number(/content-length: (\d+)/i.exec(request[0])?.[1] ?? 0);
  return output.length >= request.index + request[0].length + length;
};

export const httpAnswer = (status: number, body: unknown): string => {
  const text = JSON.stringify(body);
  const head = ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`, 'connection: close'];
  return `HTTP/1.1 ${status} Answer\r\n${head.join('\r\n')}\r\n\r\n${text}`;
};
