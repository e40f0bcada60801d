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
import { freePort } from '../../support/free-port.js';

type Asked = { method: string; path: string; body: Record<string, unknown> };
type User = { password: unknown; fullName: unknown; groups: unknown };

/** One TLS port for gRPC, which the double answers, and for the users of the server's HTTP interface. */
describe('the account in EventStoreDB', () => {
  const users = new Map<string, User>();
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
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>;
    const isAdmin = call.headers.authorization === `Basic ${Buffer.from('admin:s:cret').toString('base64')}`;
    refusals -= 1;
    if (!isAdmin || refusals >= 0) return void reply.writeHead(401).end();
    const [method, path] = [call.method ?? '', call.url ?? ''];
    asked.push({ method, path, body });
    const { status, user } = answerOf(method, path, body);
    reply.writeHead(status).end(user === undefined ? '' : JSON.stringify({ data: user }));
  };

  /** As a real 23.10.6 answers: a user that is there with the password of the request counts as made, whatever groups it has. */
  const answerOf = (method: string, path: string, body: Record<string, unknown>): { status: number; user?: User } => {
    const [, name = '', command] = /^\/users\/([^/]*)(?:\/command\/(.*))?$/.exec(path) ?? [];
    if (name === '') {
      const there = users.get(String(body.loginName));
      if (there !== undefined) return { status: there.password === body.password ? 201 : 409 };
      users.set(String(body.loginName), { password: body.password, fullName: body.fullName, groups: body.groups });
      return { status: 201 };
    }
    const user = users.get(name);
    if (user === undefined) return { status: 404 };
    if (command !== undefined) user.password = body.newPassword;
    if (method === 'PUT') [user.fullName, user.groups] = [body.fullName, body.groups];
    return method === 'GET' ? { status: 200, user } : { status: 200 };
  };

  beforeEach(async () => {
    users.clear();
    [asked, refusals] = [[], 0];
    const request = { validDays: 2, now: systemClock.now() };
    const issuer = issueCertificate({ ...request, subjectName: 'CA' });
    const node = issueCertificate({ ...request, subjectName: 'node', issuer, serverNames: ['localhost', '127.0.0.1'] });
    folder = await mkdtemp(join(tmpdir(), 'nfse-account-'));
    await writeFile(join(folder, 'ca.pem'), issuer.certificatePem);
    double = await startEventStoreDouble({ cluster: () => [port] });
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
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /users/', 'GET /users/nfse']);
    expect(asked[0]?.body).toMatchObject({ loginName: 'nfse', password: 'open:sesame', groups: ['nfse'] });
    expect(await whoMayReadAll()).toMatchObject({ roles: ['$admins', 'nfse'] });
  });

  it('gets the password of the address when it is there, and what it may read is not written again', async () => {
    await prepareAccount(url(), 's:cret');
    const before = await whoMayReadAll();
    expect(await prepareAccount(url(), 's:cret')).toBe('made');
    users.set('nfse', { password: 'of before', fullName: 'NFS-e', groups: ['nfse'] });
    expect(await prepareAccount(url(), 's:cret')).toBe('renewed');
    expect(users.get('nfse')).toEqual({ password: 'open:sesame', fullName: 'NFS-e', groups: ['nfse'] });
    expect(await whoMayReadAll()).toEqual(before);
  });

  it.each(['open:sesame', 'another'])(
    'may read the whole log also when a person made it, with password %s',
    async (password) => {
      users.set('nfse', { password, fullName: 'By hand', groups: ['reporting'] });
      await prepareAccount(url(), 's:cret');
      expect(users.get('nfse')).toEqual({
        password: 'open:sesame',
        fullName: 'By hand',
        groups: ['reporting', 'nfse'],
      });
    },
  );

  it('may read the whole log also when a person made it without a full name and without groups', async () => {
    users.set('nfse', { password: 'open:sesame', fullName: null, groups: null });
    await prepareAccount(url(), 's:cret');
    expect(users.get('nfse')).toEqual({ password: 'open:sesame', fullName: '', groups: ['nfse'] });
  });

  it('is not prepared when the server does not say which groups it has', async () => {
    users.set('nfse', { password: 'open:sesame', fullName: 'By hand', groups: 'reporting' });
    await expect(prepareAccount(url(), 's:cret')).rejects.toThrow(AccountNotPrepared);
  });

  it('stays as it is when it is an administrator', async () => {
    const administrator = { password: 'open:sesame', fullName: 'An administrator', groups: ['$admins'] };
    users.set('nfse', administrator);
    await prepareAccount(url(), 's:cret');
    expect(users.get('nfse')).toEqual(administrator);
  });

  it('takes the whole log from nobody who may read it', async () => {
    const client = EventStoreDBClient.connectionString(double.url);
    const acl = { readRoles: ['$admins', 'reporting'], metaReadRoles: ['reporting'] };
    await client.setStreamMetadata('$all', { note: 'kept', acl });
    await prepareAccount(url(), 's:cret');
    const { metadata } = await client.getStreamMetadata('$all');
    await client.dispose();
    expect(metadata).toEqual({ note: 'kept', acl: { ...acl, readRoles: ['$admins', 'reporting', 'nfse'] } });
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

  it('is made by the nodes of a cluster that answer', async () => {
    const address = url(`tls=true&tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`);
    const cluster = address.replace('@localhost:', `@localhost:${await freePort()},localhost:`);
    expect(await prepareAccount(cluster, 's:cret')).toBe('made');
    expect(users.get('nfse')).toMatchObject({ groups: ['nfse'] });
  });

  it.each(['tls=false', 'tls=true'])('is made over TLS with a CA only, not with %s', async (settings) => {
    await expect(prepareAccount(url(settings), 's:cret')).rejects.toThrow(AddressInvalid);
  });
});
