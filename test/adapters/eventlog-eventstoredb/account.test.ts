import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server } from 'node:tls';
import { EventStoreDBClient } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccountNotPrepared, prepareAccount } from '../../../src/adapters/eventlog-eventstoredb/account.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { AddressInvalid } from '../../../src/ports/engine-address.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { type EventStoreDouble, startEventStoreDouble } from '../../support/eventstore-double/double.js';

type Asked = { path: string; body: Record<string, unknown> };

/** One TLS port for gRPC, which the double answers, and for the users of the server's HTTP interface. */
describe('the account in EventStoreDB', () => {
  const users = new Map<string, unknown>();
  let asked: Asked[];
  let refusals: number;
  let folder: string;
  let port: number;
  let double: EventStoreDouble;
  let front: Server;
  const sockets = new Set<Socket>();

  const answer = async (call: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of call) chunks.push(Buffer.from(chunk));
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    const isAdmin = call.headers.authorization === `Basic ${Buffer.from('admin:s:cret').toString('base64')}`;
    refusals -= 1;
    if (!isAdmin || refusals >= 0) return void reply.writeHead(401).end();
    asked.push({ path: call.url ?? '', body });
    const name = String(body.loginName);
    if (call.url === '/users/' && users.has(name)) return void reply.writeHead(409).end();
    users.set(name, body.password);
    reply.writeHead(call.url === '/users/' ? 201 : 200).end();
  };

  beforeEach(async () => {
    users.clear();
    [asked, refusals] = [[], 0];
    const request = { validDays: 2, now: systemClock.now() };
    const issuer = issueCertificate({ ...request, subjectName: 'CA' });
    const node = issueCertificate({ ...request, subjectName: 'node', issuer, serverNames: ['localhost'] });
    folder = await mkdtemp(join(tmpdir(), 'nfse-account-'));
    await writeFile(join(folder, 'ca.pem'), issuer.certificatePem);
    double = await startEventStoreDouble();
    const http = createServer((call, reply) => void answer(call, reply));
    const options = { key: node.privateKeyPem, cert: node.certificatePem, ALPNProtocols: ['h2', 'http/1.1'] };
    front = createTlsServer(options, (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      if (socket.alpnProtocol !== 'h2') return void http.emit('connection', socket);
      const inner = connect(double.port, '127.0.0.1');
      inner.on('error', () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    });
    await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening));
    const address = front.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    front.close();
    await double.close();
    await rm(folder, { recursive: true });
  });

  const url = (settings = `tls=true&tlsCAFile=${join(folder, 'ca.pem')}`): string =>
    `esdb://nfse:open%3Asesame@localhost:${port}?${settings}`;

  const whoMayReadAll = async (): Promise<unknown> => {
    const client = EventStoreDBClient.connectionString(double.url);
    try {
      const { metadata, metastreamRevision } = await client.getStreamMetadata('$all');
      return { roles: metadata?.acl?.readRoles, metastreamRevision };
    } finally {
      await client.dispose();
    }
  };

  it('is made with the password of the address, and may read the whole log', async () => {
    expect(await prepareAccount(url(), 's:cret')).toBe('made');
    expect(asked.map(({ path }) => path)).toEqual(['/users/']);
    expect(asked[0]?.body).toMatchObject({ loginName: 'nfse', password: 'open:sesame', groups: ['nfse'] });
    expect(await whoMayReadAll()).toMatchObject({ roles: ['$admins', 'nfse'] });
  });

  it('gets the password of the address when it is there, and what it may read is not written again', async () => {
    await prepareAccount(url(), 's:cret');
    const before = await whoMayReadAll();
    expect(await prepareAccount(url(), 's:cret')).toBe('renewed');
    expect(asked.at(-1)).toEqual({ path: '/users/nfse/command/reset-password', body: { newPassword: 'open:sesame' } });
    expect(await whoMayReadAll()).toEqual(before);
  });

  it('is made by a server that accepts its administrator a moment after it began to answer', async () => {
    refusals = 1;
    expect(await prepareAccount(url(), 's:cret')).toBe('made');
  });

  it('is not made with a wrong password of the administrator, or at a server that the CA does not know', async () => {
    await expect(prepareAccount(url(), 'guess', 0)).rejects.toThrow('refuses the administrator');
    await writeFile(
      join(folder, 'ca.pem'),
      issueCertificate({ subjectName: 'CA', validDays: 2, now: systemClock.now() }).certificatePem,
    );
    await expect(prepareAccount(url(), 's:cret', 0)).rejects.toThrow(AccountNotPrepared);
    expect(asked).toEqual([]);
  });

  it('is made with the CA under any spelling of its setting that the client accepts', async () => {
    expect(await prepareAccount(url(`tls_ca_file=${encodeURIComponent(join(folder, 'ca.pem'))}`), 's:cret')).toBe(
      'made',
    );
  });

  it.each(['tls=false', 'tls=true'])('is made over TLS with a CA only, not with %s', async (settings) => {
    await expect(prepareAccount(url(settings), 's:cret')).rejects.toThrow(AddressInvalid);
  });
});
