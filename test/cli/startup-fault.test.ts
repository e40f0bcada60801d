import { mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EventLogAccessDenied } from '../../src/adapters/eventlog-eventstoredb/faults.js';
import { FaultAtAddress } from '../../src/adapters/sql/errors.js';
import { TamperedSecret } from '../../src/adapters/vault/envelope.js';
import { MasterKeyUnusable } from '../../src/adapters/vault/key-file.js';
import { UnknownEventVersion } from '../../src/app/event-store/codec.js';
import { StreamContended } from '../../src/app/event-store/transact.js';
import { AddressInvalid } from '../../src/ports/engine-address.js';
import { EventLogUnavailable, EventTooLarge, type LogPosition, UnreadableEvent } from '../../src/ports/event-log.js';
import { type QueueFault, WorkQueueUnavailable } from '../../src/ports/work-queue.js';
import { startupFault } from '../../src/runtime/commands/startup-fault.js';
import { LedgerDamaged } from '../../src/simulator/options.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const refusedAppend = (code: string) =>
  new EventLogUnavailable('the event log refused the append', { cause: Object.assign(new Error(SECRET), { code }) });

const SECRET = 'invalid input: customer 12345678909';

it.each([
  ['an Error', new Error(SECRET), 'Error'],
  ['a TypeError', new TypeError(SECRET), 'TypeError'],
  ['an error with a code', Object.assign(new Error(SECRET), { code: 'ERR_X' }), 'Error (ERR_X)'],
  ['what is no error', SECRET, 'string'],
])('%s is told by name, code and place, never by its message', (_what, error, shown) => {
  const { exit, line } = startupFault(error);
  expect(exit).toBe(1);
  expect(line).not.toContain('12345678909');
  expect(line.startsWith(`failed unexpectedly: ${shown}`)).toBe(true);
});

it('an error from our code has its place', () => {
  const error = new Error(SECRET);
  error.stack = `Error: ${SECRET}\n    at run (file:///app/src/cli/run.ts:1:2)`;
  expect(startupFault(error).line).toBe('failed unexpectedly: Error at src/cli/run.ts:1:2');
});

it.each([
  [
    new EventLogUnavailable('the event log cannot be read'),
    /^the event log cannot be reached: check EVENTSTORE_URL.* try again \(the event log cannot be read\)$/,
  ],
  [new EventLogAccessDenied('the event log cannot be read'), /^the event log cannot be reached: .*\(access_denied\)$/],
  [Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' }), /^the database cannot be reached: .*\(ECONNREFUSED\)$/],
  [refusedAppend('53100'), /^no disk space is left: free some and start again; nothing was lost \(53100\)$/],
  [refusedAppend('25006'), /^the database takes no writes: DATABASE_URL must name the primary/],
  [refusedAppend('40P01'), /^the event log cannot be reached: .*\(the event log refused the append\)$/],
])('a start says which engine is away: %s', (error, line) => {
  const fault = startupFault(error);
  expect(fault.exit).toBe(3);
  expect(fault.line).toMatch(line);
});

it('names the variable of an address that the client of its engine refuses', () => {
  const refused = new FaultAtAddress('EVENTSTORE_URL', new AddressInvalid('a certificate file is not there'));
  expect(startupFault(refused)).toEqual({ exit: 2, line: 'EVENTSTORE_URL: a certificate file is not there' });
});

it.each<[QueueFault, RegExp]>([
  ['unavailable', /^the work queue cannot be reached: check NATS_URL and the NATS server, and try again \(X\)$/],
  ['refused', /^NATS refuses this user: check user and password in NATS_URL.* \(X\)$/],
  ['untrusted', /^the TLS of NATS is not trusted.* NATS_URL.*NODE_EXTRA_CA_CERTS.* \(X\)$/],
  ['without_jetstream', /^NATS gives this user no JetStream: .* \(X\)$/],
])('a start says what is wrong with NATS: %s', (fault, line) => {
  const { exit, line: said } = startupFault(new WorkQueueUnavailable('it cannot be used', 'X', fault));
  expect(exit).toBe(3);
  expect(said).toMatch(line);
});

it('names the cure when the user of an address lacks a right, and does not ask to check the password', () => {
  const missing = Object.assign(new Error(SECRET), { code: '42501' });
  const lineFor = (setBy: string) =>
    `the user of ${setBy} lacks a right in the database: run nfse setup database --admin-url-file FILE with DATABASE_OWNER_URL set, where FILE holds the address of the administrator (42501)`;
  expect(startupFault(missing)).toEqual({ exit: 3, line: lineFor('DATABASE_URL') });
  expect(startupFault(new FaultAtAddress('DATABASE_OWNER_URL', missing)).line).toBe(lineFor('DATABASE_OWNER_URL'));
});

it.each(['28P01', '28000', '3D000'])(
  'a database that may not be set up yet names the command that does it: %s',
  (code) => {
    const refused = Object.assign(new Error(SECRET), { code });
    const hint = `(${code}); before the first start the user and the database are made by nfse setup database --admin-url-file FILE with DATABASE_OWNER_URL set, `;
    for (const setBy of ['DATABASE_URL', 'DATABASE_URL_FILE', 'DATABASE_OWNER_URL'])
      expect(startupFault(new FaultAtAddress(setBy, refused)).line).toContain(`sslmode in ${setBy} ${hint}`);
    expect(startupFault(new FaultAtAddress('/etc/nfse/admin-url', refused)).line).toMatch(
      /in \/etc\/nfse\/admin-url \(\w+\)$/,
    );
  },
);

it('a database that wants a certificate of its client, or has got another’s key, is told so', () => {
  const faultWith = (code: string) => startupFault(Object.assign(new Error(SECRET), { code }));
  expect(faultWith('28000').line).toContain(
    'the certificate of the client (sslcert, sslkey) and sslmode in DATABASE_URL',
  );
  expect(faultWith('28P01').line).not.toContain('sslcert');
  expect(faultWith('ERR_OSSL_X509_KEY_VALUES_MISMATCH')).toEqual({
    exit: 2,
    line: 'sslcert and sslkey in the address of the database do not belong together (ERR_OSSL_X509_KEY_VALUES_MISMATCH)',
  });
});

it.each(['EACCES', 'EPERM'])('a path that this user may not use is named: %s', (code) => {
  const denied = Object.assign(new Error(SECRET), { code, path: '/data/simulator' });
  const line = `/data/simulator may not be used by this user (${code}): check its owner and mode`;
  expect(startupFault(denied)).toEqual({ exit: 2, line });
  const unnamed = startupFault(Object.assign(new Error(SECRET), { code }));
  expect(unnamed.line).toBe(`a file or port may not be used by this user (${code}): check DATA_DIR and the ports`);
});

it('a port that this user may not use is named, and not the port of a server that a firewall refuses', () => {
  const denied = { code: 'EACCES', port: 80 };
  expect(startupFault(Object.assign(new Error(SECRET), denied, { syscall: 'listen' }))).toEqual({
    exit: 2,
    line: 'port 80 may not be used by this user (EACCES): choose another port (PORT, OPS_PORT, SIMULATOR_PORT, SIMULATOR_CONTROL_PORT)',
  });
  expect(startupFault(Object.assign(new Error(SECRET), denied, { syscall: 'connect' })).line).not.toContain('80');
});

it.each(['ENOTDIR', 'EEXIST', 'EROFS'])('a folder that cannot be made is named: %s', (code) => {
  const fault = Object.assign(new Error(SECRET), { code, path: '/data/file/simulator' });
  const line = `/data/file/simulator cannot be made (${code}): choose another path`;
  expect(startupFault(fault)).toEqual({ exit: 2, line });
});

it.each([
  [new StreamContended(), 1],
  [new UnknownEventVersion('event type X: newer than this program'), 1],
  [new UnreadableEvent(17n as LogPosition, 'anchor-2026-11-21', 0), 1],
  [new TamperedSecret('a day-key of the vault is not sealed text'), 1],
  [new LedgerDamaged('the ledger is damaged at byte 7'), 1],
  [new MasterKeyUnusable('the master key file cannot be read'), 2],
])('our own errors say what they are: %s', (error, exit) => {
  expect(startupFault(error)).toEqual({ exit, line: error.message });
});

it('what is too long for an event is told as such, without its size alone', () => {
  expect(startupFault(new EventTooLarge('an event of 300000 bytes is over 262144'))).toEqual({
    exit: 1,
    line: 'an event of the log holds 256 KiB, and what this command would record is longer: shorten what was given',
  });
});

it.each([
  ['55P03', /^the database waited too long for a lock that another session holds .*\(55P03\)$/],
  ['57014', /^the database gave a statement up, by a time limit .*\(57014\)$/],
  ['25P03', /^the database ended the session by idle_in_transaction_session_timeout: .*\(25P03\)$/],
  ['25P04', /^the database ended the session by transaction_timeout: .*\(25P04\)$/],
  ['57P05', /^the database ended the session by idle_session_timeout: .*\(57P05\)$/],
])('a limit is named, and no address, where the server ended work by it: %s', (code, line) => {
  const fault = Object.assign(new Error(SECRET), { code });
  for (const error of [new FaultAtAddress('DATABASE_OWNER_URL', fault), refusedAppend(code)]) {
    expect(startupFault(error).exit).toBe(3);
    expect(startupFault(error).line).toMatch(line);
  }
});

it.each([
  ['08P01', /^a pooler or proxy before the database refuses the connection, .* in DATABASE_OWNER_URL, .*\(08P01\)$/],
  ['26000', /^the address of the database leads to a pooler that gives .*pool_mode = session.*\(26000\)$/],
  ['42P05', /^the address of the database leads to a pooler that gives .*pool_mode = session.*\(42P05\)$/],
])('a pooler is named where it does not what a server does: %s', (code, line) => {
  const fault = new FaultAtAddress('DATABASE_OWNER_URL', Object.assign(new Error(SECRET), { code }));
  expect(startupFault(fault).exit).toBe(3);
  expect(startupFault(fault).line).toMatch(line);
});

it.each(['57P01', '57P03'])('a database that starts or stops has no wrong address: %s', (code) => {
  const fault = new FaultAtAddress('DATABASE_OWNER_URL', Object.assign(new Error(SECRET), { code, severity: 'FATAL' }));
  expect(startupFault(fault)).toEqual({
    exit: 3,
    line: `the database is starting or stopping, in embedded mode with its service: wait a moment, and try again (${code})`,
  });
});

it('a folder that a file system does not take is named', () => {
  const error = Object.assign(new Error(SECRET), { code: 'ENOENT', syscall: 'mkdir', path: '/proc/backup' });
  expect(startupFault(error)).toEqual({
    exit: 2,
    line: '/proc/backup cannot be made (ENOENT): choose another path',
  });
});

it.each([
  ['missing', 'ENOENT'],
  ['file', 'ENOTDIR'],
  ['loop', 'ELOOP'],
])('TMPDIR is named where it takes no folder: %s', async (name, code) => {
  const place = temporaryFolder();
  await writeFile(join(place, 'file'), '');
  await symlink('loop', join(place, 'loop'));
  const folder = join(place, name);
  const error: unknown = await mkdtemp(join(folder, 'nfse-demo-')).catch((fault: unknown) => fault);
  expect(startupFault(error)).toEqual({
    exit: 2,
    line: `no temporary folder can be made in ${folder} (${code}): set TMPDIR to a folder that this user may write`,
  });
});

it.each(['EACCES', 'EROFS'])('TMPDIR is named where this user may not write it: %s', (code) => {
  const denied = Object.assign(new Error(SECRET), { code, syscall: 'mkdtemp', path: '/full/nfse-demo-XXXXXX' });
  const { exit, line } = startupFault(denied);
  expect([exit, line]).toEqual([
    2,
    expect.stringMatching(/^no temporary folder can be made in \/full \(\w+\): set TMPDIR /),
  ]);
});

it('a disk without space under TMPDIR is named as before', () => {
  const full = Object.assign(new Error(SECRET), { code: 'ENOSPC', syscall: 'mkdtemp', path: '/full/nfse-demo-XXXXXX' });
  expect(startupFault(full)).toMatchObject({ exit: 3, line: expect.stringMatching(/^no disk space is left/) });
});
