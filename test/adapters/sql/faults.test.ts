import { expect, it, vi } from 'vitest';
import { isRolledBack, sqlFault } from '../../../src/adapters/sql/errors.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';

const failure = (code: string) => Object.assign(new Error('failed'), { code });

it.each([
  ['08006', 'unavailable'],
  ['57P01', 'unavailable'],
  ['57P03', 'unavailable'],
  ['ECONNREFUSED', 'unavailable'],
  ['ECONNRESET', 'unavailable'],
  ['53100', 'disk_full'],
  ['25006', 'read_only'],
  ['28P01', 'refused'],
  ['3D000', 'refused'],
  ['42501', 'refused'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['CERT_HAS_EXPIRED', 'untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted'],
  ['EPROTO', 'untrusted'],
  ['40001', 'unavailable'],
  ['40P01', 'unavailable'],
  ['23505', 'other'],
  ['42P01', 'other'],
])('takes %s for %s', (code, fault) => {
  expect(sqlFault(failure(code))).toBe(fault);
  expect(sqlFault(new AggregateError([failure(code)]))).toBe(fault);
});

it.each([
  ['connect', 'unavailable'],
  ['open', 'other'],
  ['mkdtemp', 'other'],
])('takes what is not there for the socket of a server only in the call %s', (syscall, fault) => {
  const missing = Object.assign(failure('ENOENT'), { syscall });
  expect(sqlFault(missing)).toBe(fault);
  expect(sqlFault(new AggregateError([missing]))).toBe(fault);
});

it.each([
  ['Connection terminated unexpectedly', 'unavailable'],
  ['Query read timeout', 'unavailable'],
  ['The server does not support SSL connections', 'no_tls'],
  ['There was an error establishing an SSL connection', 'untrusted'],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'refused'],
])('takes %j of the driver, which has no code, for %s', (message, fault) => {
  expect(sqlFault(new Error(message))).toBe(fault);
});

it('calls every other error other', () => {
  expect(sqlFault(new TypeError('x is not a function'))).toBe('other');
  expect(sqlFault('text')).toBe('other');
});

describeWithPostgres('openPool', () => {
  it('survives the loss of its idle connections and reports it', async () => {
    const database = await freshDatabase();
    const onIdleError = vi.fn();
    const pool = openPool({
      connectionString: database.connectionString,
      max: 2,
      applicationName: 'test',
      onIdleError,
    });
    await pool.query('select 1');
    await database.breakConnections();
    await vi.waitUntil(() => onIdleError.mock.calls.length > 0, { timeout: 60_000 });
    expect(sqlFault(onIdleError.mock.calls[0]?.[0])).toBe('unavailable');
    expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
    await database.close();
  });

  it('has the server give up long statements and long waits', async () => {
    const database = await freshDatabase();
    const { connectionString } = database;
    const pool = openPool({ connectionString, max: 1, applicationName: 'test', statementTimeoutMs: 20 });
    const error = await pool.query('select pg_sleep(10)').catch((cause: unknown) => cause);
    expect([sqlFault(error), isRolledBack(error)]).toEqual(['unavailable', true]);
    await pool.end();
    await database.close();
  });
});
