import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readDatabaseUrl } from '../../../src/adapters/sql/address.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { openOn } from '../../support/harness/open-engines.js';
import { type OwnPostgres, startOwnPostgres } from '../../support/own-postgres.js';
import { describeWithPostgres } from '../../support/postgres.js';
import { embeddedPostgres } from '../../support/postgres-programs.js';

const certificate = (subjectName: string, more: { issuer?: KeyAndCertificate; serverNames?: string[] } = {}) =>
  issueCertificate({ subjectName, validDays: 1, now: systemClock.now(), ...more });

/** Only the test's own user may connect without TLS. */
const ACCESS = `hostnossl all postgres 127.0.0.1/32 trust
hostssl all in_clear 127.0.0.1/32 password
hostssl all by_md5 127.0.0.1/32 md5
hostssl all all 127.0.0.1/32 trust
`;

describeWithPostgres('a database server that demands TLS', () => {
  let server: OwnPostgres;
  let folder: string;
  beforeAll(async () => {
    const authority = certificate('Authority');
    const own = certificate('Server', { issuer: authority, serverNames: ['127.0.0.1'] });
    folder = await mkdtemp(join(tmpdir(), 'nfse-tls-'));
    await writeFile(join(folder, 'ca.pem'), authority.certificatePem);
    await writeFile(join(folder, 'other.pem'), certificate('Another authority').certificatePem);
    server = await startOwnPostgres(await embeddedPostgres());
    await server.ask('create role nfse login superuser');
    await server.ask(`create role in_clear login superuser password 'secret'`);
    await server.ask(`alter role postgres set password_encryption = 'md5'`);
    await server.ask(`create role by_md5 login superuser password 'secret'`);
    const settings = {
      ssl: 'on',
      ssl_cert_file: await server.secret('server.crt', own.certificatePem),
      ssl_key_file: await server.secret('server.key', own.privateKeyPem),
      hba_file: await server.secret('access.conf', ACCESS),
    };
    for (const [name, value] of Object.entries(settings)) await server.ask(`alter system set ${name} = '${value}'`);
    await server.stop();
    await server.start();
  });
  afterAll(async () => {
    await server?.close();
    await rm(folder, { recursive: true });
  });

  const address = (settings: string): string => `${server.url.replace('postgres@', 'nfse@')}?${settings}`;
  const file = (name: string): string => encodeURIComponent(join(folder, name));

  it.each(['require', 'verify-full'])('is used over TLS with its authority and sslmode=%s', async (mode) => {
    const url = address(`sslmode=${mode}&sslrootcert=${file('ca.pem')}`);
    expect(await openOn(url)).toBe('opened');
    const pool = openPool({ connectionString: readDatabaseUrl(url), max: 1, applicationName: 'test' });
    const { rows } = await pool.query('select ssl, version from pg_stat_ssl where pid = pg_backend_pid()');
    expect(rows).toEqual([{ ssl: true, version: 'TLSv1.3' }]);
    await pool.end();
  });

  it.each(['in_clear', 'by_md5'])(
    'gets the password %s when its certificate is verified, otherwise not',
    async (role) => {
      const asRole = (url: string): string => url.replace('nfse@', `${role}:secret@`);
      expect(await openOn(asRole(address(`sslmode=verify-full&sslrootcert=${file('ca.pem')}`)))).toBe('opened');
      for (const mode of ['sslmode=no-verify', `uselibpqcompat=true&sslmode=require`])
        expect(await openOn(asRole(address(mode)))).toMatchObject({
          exit: 3,
          line: expect.stringMatching(/does not prove.* \(PASSWORD_ASKED_/),
        });
    },
  );

  it.each(['require', 'verify-ca', 'verify-full'])(
    'is refused in a clear line with another authority and sslmode=%s',
    async (mode) => {
      expect(await openOn(address(`sslmode=${mode}&sslrootcert=${file('other.pem')}`))).toEqual({
        exit: 3,
        line: expect.stringMatching(/^the TLS of the database is not trusted: .*sslrootcert.* \(\w+\)$/),
      });
    },
  );

  it('is refused when its certificate is for another name', async () => {
    const url = new URL(address(`sslmode=verify-full&sslrootcert=${file('ca.pem')}`));
    url.hostname = 'localhost';
    expect(await openOn(url.href)).toMatchObject({ exit: 3, line: expect.stringMatching(/is not trusted.*host name/) });
  });

  it('refuses whoever comes without TLS, and the line names sslmode', async () => {
    expect(await openOn(address(''))).toMatchObject({
      exit: 3,
      line: expect.stringMatching(/refuses.*sslmode.*\(28000\)/),
    });
  });

  it('is named before anything is started when its authority cannot be read, or the mode is none', async () => {
    expect(await openOn(address(`sslrootcert=${file('missing.pem')}`))).toEqual({
      exit: 2,
      line: 'DATABASE_URL: sslrootcert names a file that cannot be read',
    });
    expect(await openOn(address('sslmode=always'))).toMatchObject({
      exit: 2,
      line: expect.stringMatching(/sslmode must be one of/),
    });
  });
});
