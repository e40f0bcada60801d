import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMonitoringReads } from '../../src/adapters/read-model-postgres/monitoring-reads.js';
import { putCertificate } from '../../src/app/operator/company/company-commands.js';
import { leafFacts } from '../../src/certificates/holder.js';
import { issueCertificate, type KeyAndCertificate } from '../../src/certificates/issue-certificate.js';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { projectionCommands } from '../../src/cli/commands/projections.js';
import { runCommand } from '../../src/cli/run.js';
import { companyStream, invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../src/domain/common/time.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { certificatesOf } from '../../src/runtime/engines/companies.js';
import { companyFile } from '../support/fixture/company.js';
import { accepted, attempted, authorized, cancelRequested } from '../support/fixture/invoice.js';
import { endlessPfxOf, pairsPfxOf, pfxOf, plainPfxOf } from '../support/fixture/pfx.js';
import { certificateOfKey, forgedKeyOf, rsaKeyOf, withoutReadableEnd } from '../support/fixture/rsa-keys.js';
import { appendTo } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const BRANCH = '12345678000276';
const STRANGER = '11222333000181';
const DAY = 86_400;
const password = 'segredo';

describeWithPostgres('nfse certificate put', () => {
  let operator: Operator;
  let authority: KeyAndCertificate;
  const now = systemClock.now();
  beforeAll(async () => {
    const clock = { now: () => now };
    operator = await openOperator(
      [...companyCommands, ...certificateCommands, ...projectionCommands, doctorCommand],
      undefined,
      {},
      clock,
    );
    await writeFile(inFolder('company.json'), JSON.stringify(companyFile));
    await writeFile(inFolder('password'), `${password}\n`);
    expect(await operator.run('company', 'put', inFolder('company.json'))).toMatchObject({ exit: 0 });
    authority = issueCertificate({ subjectName: 'AC', validDays: 30, now });
  });
  afterAll(() => operator.close());

  const inFolder = (name: string): string => join(operator.folder, name);

  const issued = (cnpj: string | undefined, validDays: number, from: Instant = now): KeyAndCertificate =>
    issueCertificate({ subjectName: 'EMPRESA', issuer: authority, validDays, now: from, ...(cnpj && { cnpj }) });

  const pfx = ({ privateKeyPem, certificatePem }: KeyAndCertificate): Buffer =>
    pfxOf(privateKeyPem, [certificatePem, authority.certificatePem], { password });

  const forged = (privateKeyPem: string): Buffer =>
    plainPfxOf(privateKeyPem, certificateOfKey(privateKeyPem, { cnpj: CNPJ, now }));

  const put = async (file: Buffer, cnpj = CNPJ, secret = 'password') => {
    await writeFile(inFolder('made.pfx'), file);
    return await operator.run(
      ...['certificate', 'put', cnpj, '--pfx', inFolder('made.pfx'), '--password-file', inFolder(secret)],
    );
  };

  const doctorLine = async (): Promise<string> => {
    const { out, err } = await operator.run('doctor');
    const told = `${out}${err}`;
    return told.split('\n').find((line) => line.includes(`certificate ${CNPJ}`)) ?? `no such line in: ${told}`;
  };

  it('lets doctor see a company that is enabled without one', async () => {
    expect(await doctorLine()).toContain('no such line');
    await operator.run('company', 'enable', CNPJ);
    expect(await doctorLine()).toMatch(/^BAD .* none: .* -> nfse certificate put/);
    await operator.run('company', 'disable', CNPJ);
  });

  it('stores a certificate of the company, and says until when it is valid', async () => {
    const result = await put(pfx(issued(CNPJ, 365)));
    expect(result).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^certificate stored for \d+, valid until \S+Z$/),
    });
  });

  it('takes its file from a pipe, as does company put, because a container with a read-only root has no other way in', async () => {
    await writeFile(inFolder('piped.pfx'), pfx(issued(CNPJ, 365)));
    const piped = async (file: string, ...argv: readonly string[]) => {
      const pipe = inFolder(`pipe-${file}`);
      execFileSync('mkfifo', [pipe]);
      const writer = spawn('sh', ['-c', 'cat "$1" > "$2"', 'sh', inFolder(file), pipe]);
      const written = once(writer, 'exit');
      const result = await operator.run(...argv.map((word) => (word === 'PIPE' ? pipe : word)));
      await written;
      return result;
    };
    expect(await piped('company.json', 'company', 'put', 'PIPE')).toMatchObject({ exit: 0 });
    const options = ['--pfx', 'PIPE', '--password-file', inFolder('password')];
    expect(await piped('piped.pfx', 'certificate', 'put', CNPJ, ...options)).toMatchObject({
      ...{ exit: 0, out: expect.stringContaining('certificate stored') },
    });
  });

  it('reads a password that an editor of Windows saved, with its byte order mark and line end', async () => {
    await writeFile(inFolder('windows'), `\uFEFF${password}\r\n`);
    expect(await put(pfx(issued(CNPJ, 365)), CNPJ, 'windows')).toMatchObject({ exit: 0 });
  });

  it.each<[what: string, bytes: Buffer]>([
    ['the ANSI of Notepad', Buffer.from('maçã', 'latin1')],
    ['the UTF-16 of PowerShell', Buffer.from(`\uFEFF${password}\r\n`, 'utf16le')],
    ['UTF-16 without a byte order mark', Buffer.from(password, 'utf16le')],
  ])('names a password file in %s, which is no wrong password', async (_what, bytes) => {
    await writeFile(inFolder('encoded'), bytes);
    const result = await put(pfx(issued(CNPJ, 365)), CNPJ, 'encoded');
    expect(result).toMatchObject({ exit: 2, err: expect.stringContaining('the password file is not UTF-8 text') });
  });

  it('reads a password with an empty line after it', async () => {
    await writeFile(inFolder('two-lines'), `${password}\n\n`);
    expect(await put(pfx(issued(CNPJ, 365)), CNPJ, 'two-lines')).toMatchObject({ exit: 0 });
  });

  it('stores that of a branch of the same company, and says whose it is', async () => {
    const result = await put(pfx(issued(BRANCH, 365)));
    expect(result).toMatchObject({
      exit: 0,
      out: expect.stringContaining(`it is that of ${BRANCH}, of the same company`),
    });
  });

  describe('of a file with several', () => {
    const expired = () => issued(CNPJ, 10, addSeconds(now, -20 * DAY));
    const person = () => issueCertificate({ subjectName: 'MARIA', issuer: authority, validDays: 9, now });
    /** The same key, certified again. */
    const renewed = ({ privateKeyPem }: KeyAndCertificate): KeyAndCertificate => ({
      privateKeyPem,
      certificatePem: certificateOfKey(privateKeyPem, { cnpj: CNPJ, now }),
    });

    it.each<[what: string, others: (good: KeyAndCertificate) => readonly KeyAndCertificate[]]>([
      ['an expired one', () => [expired()]],
      ['one of another company', () => [issued('98765432000198', 300)]],
      ['that of a branch, valid for longer', () => [issued(BRANCH, 300)]],
      ['an e-CPF', () => [person()]],
      ['one of the company that ends sooner', () => [issued(CNPJ, 20)]],
    ])('stores that of the company beside %s, in either order', async (_what, others) => {
      const good = issued(CNPJ, 200);
      const { fingerprint } = leafFacts(good.certificatePem) ?? {};
      for (const pairs of [
        [...others(good), good],
        [good, ...others(good)],
      ]) {
        await operator.run('certificate', 'issue-demo', CNPJ);
        expect(await put(pairsPfxOf(pairs))).toMatchObject({ exit: 0 });
        expect((await operator.session.readModel.company(CNPJ))?.certificate).toMatchObject({ fingerprint });
      }
    });

    it('stores the renewed one of a key that stands beside its expired one', async () => {
      const old = expired();
      const good = renewed(old);
      expect(await put(pairsPfxOf([old, good]))).toMatchObject({ exit: 0 });
      const { certificateId = '', fingerprint } = (await operator.session.readModel.company(CNPJ))?.certificate ?? {};
      expect(fingerprint).toBe(leafFacts(good.certificatePem)?.fingerprint);
      expect((await operator.session.vault.open(CNPJ, certificateId))?.chainPem).toEqual([]);
    });

    it('says of the first what is wrong where none fits, and that there are several', async () => {
      const result = await put(pairsPfxOf([expired(), issued('98765432000198', 300)]));
      expect(result).toMatchObject({
        exit: 1,
        err: expect.stringMatching(/it expired on .* first of several certificates/),
      });
      const people = await put(pairsPfxOf([person(), person()]));
      expect(people).toMatchObject({ exit: 1, err: expect.stringContaining('its holder has no CNPJ') });
    });
  });

  it('stores one that ends before the one that it replaces, and says so', async () => {
    expect((await put(pfx(issued(CNPJ, 365)))).out).not.toContain('warning');
    const result = await put(pfx(issued(CNPJ, 20)));
    const until = /^warning: the certificate that it replaces is valid for longer, until \S+Z$/m;
    expect(result).toMatchObject({ exit: 0, out: expect.stringMatching(until) });
    expect((await put(pfx(issued(CNPJ, 365)))).out).not.toContain('warning');
  });

  it('is replaced by issue-demo where only the simulator answers', async () => {
    const official = issueCertificate({ subjectName: 'AC', organization: 'ICP-Brasil', validDays: 30, now });
    await put(pfx(issueCertificate({ subjectName: 'EMPRESA', issuer: official, cnpj: CNPJ, validDays: 9, now })));
    expect(await operator.run('certificate', 'issue-demo', CNPJ)).toMatchObject({ exit: 0 });
  });

  it('stores one without its chain, and says what to do should it be refused', async () => {
    const { privateKeyPem, certificatePem } = issued(CNPJ, 365);
    expect(await put(pfxOf(privateKeyPem, [certificatePem], { password }))).toMatchObject({
      ...{ exit: 0, out: expect.stringContaining('it came without its chain') },
    });
    expect((await put(pfx(issued(CNPJ, 365)))).out).not.toContain('chain');
  });

  it('stores one that the national system refuses by what it says of itself, and names all of that in one remark', async () => {
    const key = rsaKeyOf(2_048);
    const extensions = [{ name: 'keyUsage', keyEncipherment: true }];
    const { exit, out } = await put(plainPfxOf(key, certificateOfKey(key, { cnpj: CNPJ, now, extensions })));
    expect([exit, out.split('\n')[0]?.split('; ').at(-1)]).toEqual([
      0,
      'the national system refuses it, because its key usage lacks digital signature or non-repudiation (E0716), and its CNPJ is in the ' +
        'common name only, not in otherName 2.16.76.1.3.3 (E0716, E1209): get an A1 e-CNPJ from an authority of ICP-Brasil',
    ]);
    expect((await put(pfx(issued(CNPJ, 365)))).out).not.toContain('refuses');
    expect((await operator.run('certificate', 'issue-demo', CNPJ)).out).toMatch(/^certificate stored for [^;]*$/);
  });

  const refusals: readonly [string, () => Buffer, string][] = [
    ['another company', () => pfx(issued(STRANGER, 365)), `it belongs to another company (${STRANGER})`],
    ['an expired one', () => pfx(issued(CNPJ, 1, addSeconds(now, -2 * DAY))), 'it expired on '],
    ['one that is not valid yet', () => pfx(issued(CNPJ, 9, addSeconds(now, DAY))), 'it is valid from '],
    ['an e-CPF', () => pfx(issued(undefined, 9)), 'its holder has no CNPJ'],
    ['no private key', () => pfxOf(null, [issued(CNPJ, 9).certificatePem], { password }), 'it holds no private key'],
    [
      'a key without its certificate',
      () => pfxOf(issued(CNPJ, 9).privateKeyPem, [authority.certificatePem], { password }),
      'it holds no certificate of its private key',
    ],
    ['another kind of file', () => Buffer.from('-----BEGIN CERTIFICATE-----'), 'the file is not PKCS#12'],
    [
      'a derivation without end',
      () => endlessPfxOf(null, [authority.certificatePem], { password }),
      'it asks for more than 2,000,000 rounds of its password',
    ],
    ['a file of another size', () => Buffer.alloc(1_048_577), 'it is larger than 1 MiB'],
    [
      'a key of a size that is not taken',
      () => forged(forgedKeyOf(32_768)),
      'its RSA key has fewer than 2,048 or more',
    ],
    ['a key of another exponent', () => forged(rsaKeyOf(2_048, 3)), 'the public exponent of its RSA key is not 65,537'],
    ['a key that does not sign', () => forged(forgedKeyOf(2_048)), 'its private key does not sign for the certificate'],
    [
      'a validity without an end',
      () => {
        const { privateKeyPem, certificatePem } = issued(CNPJ, 9);
        return plainPfxOf(privateKeyPem, withoutReadableEnd(certificatePem));
      },
      'its validity cannot be read',
    ],
    ['a wrong password', () => pfxOf(null, [authority.certificatePem], { password: 'outra' }), 'the password is wrong'],
  ];

  it.each(refusals)('refuses %s in words of its own, and keeps what was stored', async (_what, file, why) => {
    const before = await doctorLine();
    const result = await put(file());
    expect(result).toMatchObject({ exit: 1, out: '' });
    expect(result.err.startsWith(`the certificate was not stored: ${why}`), result.err).toBe(true);
    expect(await doctorLine()).toBe(before);
    expect(before).toContain('days left');
  });

  it('opens the file before the engines, so that no lock is held meanwhile', async () => {
    await writeFile(inFolder('made.pfx'), Buffer.from('nothing'));
    const said: string[] = [];
    const terminal = { out: (text: string) => void said.push(text), err: (text: string) => void said.push(text) };
    const argv = ['certificate', 'put', CNPJ, '--pfx', inFolder('made.pfx'), '--password-file', inFolder('password')];
    const noSession = () => Promise.reject(new Error('no engine is needed'));
    expect(await runCommand(argv, certificateCommands, noSession, terminal)).toBe(1);
    expect(said.join()).toContain('the file is not PKCS#12');
  });

  it('is taken out with all that it replaced once the company is disabled; replaced ones also before', async () => {
    const remove = (...flags: string[]) => operator.run('certificate', 'remove', CNPJ, ...flags);
    await operator.run('company', 'enable', CNPJ);
    expect(await remove()).toMatchObject({ exit: 1, err: expect.stringContaining('disable the company first') });
    expect((await remove('--replaced')).out).toMatch(/^[1-9]\d* replaced certificates? of \d+ removed; backups/);
    await operator.database.pool.query(
      `insert into vault_certificates (company_id, certificate_id, sealed, created_at)
       select company_id, 'put-under-way', sealed, created_at from vault_certificates where company_id = $1`,
      [CNPJ],
    );
    expect((await remove('--replaced')).out).toMatch(/^0 replaced certificates/);
    expect(await doctorLine()).toContain('days left');
    await operator.run('company', 'disable', CNPJ);
    const { store, clock: now } = operator.session;
    const invoiceId = '11111111-1111-4111-8111-111111111111';
    const invoice = accepted({ companyId: CNPJ, invoiceId, acceptedAt: now.now() });
    await appendTo(store, invoiceStream('live', CNPJ, invoiceId), [invoice], now.now());
    const otherId = '22222222-2222-4222-8222-222222222222';
    const other = accepted({ companyId: CNPJ, invoiceId: otherId, acceptedAt: now.now() });
    const canceling = [other, attempted(1, 1), authorized(1, 2), cancelRequested(3)];
    await appendTo(store, invoiceStream('live', CNPJ, otherId), canceling, now.now());
    expect(await remove()).toMatchObject({ exit: 1, out: '', err: expect.stringContaining('are in no row yet') });
    expect(await operator.run('projections', 'rebuild', 'invoices')).toMatchObject({ exit: 0 });
    const outcomes = '1 invoice and 1 cancellation of the company had no known outcome';
    expect(await remove()).toMatchObject({
      ...{
        exit: 1,
        out: '',
        err: expect.stringMatching(`nothing was removed: ${outcomes}: .*, or add --despite-open`),
      },
    });
    expect(await doctorLine()).toContain('days left');
    const { out } = await remove('--despite-open');
    expect(out).toMatch(/^1 certificate of \d+ removed/);
    expect(out).toContain(`warning: ${outcomes}`);
    const { rows } = await operator.database.pool.query(
      'select certificate_id as id from vault_certificates where company_id = $1',
      [CNPJ],
    );
    expect(rows).toEqual([{ id: 'put-under-way' }]);
    await operator.run('company', 'enable', CNPJ);
    expect(await doctorLine()).toMatch(/^BAD .* none: /);
    expect(await operator.run('certificate', 'remove', STRANGER)).toMatchObject({ exit: 1 });
  });

  it('has as many messages as there are refusals', () => {
    expect(new Set(refusals.map(([, , why]) => why)).size).toBe(refusals.length);
  });

  it('refuses a company that is not registered', async () => {
    expect(await put(pfx(issued(STRANGER, 365)), STRANGER)).toMatchObject({
      ...{ exit: 1, err: expect.stringContaining(`no company ${STRANGER}`) },
    });
  });

  it('names the file that cannot be read', async () => {
    const missing = inFolder('missing');
    expect(await put(pfx(issued(CNPJ, 365)), CNPJ, 'missing')).toEqual({
      exit: 2,
      out: '',
      err: `${missing} cannot be read: there is no file ${missing}`,
    });
  });

  it.each([
    [29, 'BAD ', '28 days left, fewer than 30'],
    [10, 'BAD ', '9 days left, fewer than 15'],
    [6, 'BAD ', '5 days left, fewer than 7'],
    [1, 'BAD ', 'less than a day left(?!,)'],
    [40, 'ok  ', '39 days left'],
  ])('lets doctor see a certificate of %i days', async (days, verdict, words) => {
    expect(await put(pfx(issued(CNPJ, days)))).toMatchObject({ exit: 0 });
    const line = await doctorLine();
    expect(line).toMatch(new RegExp(`^${verdict}.*${words}`));
    expect(line.includes('nfse certificate put')).toBe(verdict === 'BAD ');
  });

  it('that has expired, or is not valid yet, is named by company enable', async () => {
    const { session } = operator;
    const { privateKeyPem, certificatePem } = issued(CNPJ, 9);
    const facts = leafFacts(certificatePem);
    if (facts === undefined) throw new Error('the certificate has a validity');
    const enableWith = async (times: Partial<typeof facts>) => {
      const made = { ...facts, ...times, privateKeyPem, certificatePem, chainPem: [], cnpj: CNPJ };
      await putCertificate(CNPJ, made, session.vault, session.companyDeps('ana'));
      return (await operator.run('company', 'enable', CNPJ)).out;
    };
    expect(await enableWith({})).not.toContain('certificate');
    expect(await enableWith({ notAfter: now })).toContain(
      `warning: its certificate expired on ${now}: the API refuses`,
    );
    const later = addSeconds(now, DAY);
    expect(await enableWith({ notBefore: later })).toContain(`warning: its certificate is valid from ${later} on: `);
  });

  it('of an earlier version with a key that cannot be used is named by doctor, company show and company enable', async () => {
    const { session, database } = operator;
    const { companiesWithoutCertificate } = createMonitoringReads(database.pool);
    const privateKeyPem = forgedKeyOf(2_048);
    const certificatePem = certificateOfKey(privateKeyPem, { cnpj: CNPJ, now, validDays: 365 });
    const facts = leafFacts(certificatePem);
    if (facts === undefined) throw new Error('the certificate has a validity');
    const made = { ...facts, privateKeyPem, certificatePem, chainPem: [], cnpj: CNPJ };
    expect(await putCertificate(CNPJ, made, session.vault, session.companyDeps('ana'))).toHaveProperty('done');
    await operator.run('company', 'enable', CNPJ);
    expect(await companiesWithoutCertificate()).toBe(0);
    const certificateOf = certificatesOf({ engines: session, clock: session.clock }, 'worker:issuer');
    expect(await certificateOf({ mode: 'live', companyId: CNPJ })).toBeUndefined();
    await session.companyDeps('ana').applyNow(companyStream(CNPJ));
    const why = 'its private key does not sign for the certificate';
    expect(await doctorLine()).toMatch(
      new RegExp(`^BAD .*cannot be used, because ${why}: its invoices cannot be issued -> nfse certificate put`),
    );
    const shown = await operator.runJson('company', 'show', CNPJ);
    expect(shown.json.certificate).toMatchObject({ unusable: why });
    expect((await operator.run('company', 'enable', CNPJ)).out).toContain(
      `warning: its certificate cannot be used, because ${why}: the API refuses its invoices`,
    );
    expect(await companiesWithoutCertificate()).toBe(1);
    expect(await put(pfx(issued(CNPJ, 365)))).toMatchObject({ exit: 0 });
    expect(await doctorLine()).toMatch(/^ok /);
    expect(await companiesWithoutCertificate()).toBe(0);
    await operator.run('company', 'disable', CNPJ);
  });
});

describeWithPostgres('nfse certificate issue-demo where every mode has an address', () => {
  it('is refused in a folder that no simulator has used, and goes on in that of the simulator', async () => {
    const address = 'https://127.0.0.1:3443/test/SefinNacional';
    const operator = await openOperator([...companyCommands, ...certificateCommands], undefined, {
      ...{ AUTHORIZER_TEST_URL: address, AUTHORIZER_LIVE_URL: address, SIMULATED_MODES: 'test,live' },
    });
    try {
      const file = join(operator.folder, 'company.json');
      await writeFile(file, JSON.stringify(companyFile));
      await operator.run('company', 'put', file);
      expect(await operator.run('certificate', 'issue-demo', CNPJ)).toMatchObject({ exit: 0 });
      const folder = join(operator.folder, 'simulator');
      await rm(folder, { recursive: true });
      expect(await operator.run('certificate', 'issue-demo', CNPJ)).toEqual({
        ...{ exit: 1, out: '' },
        err: `no simulator has an authority in ${folder}: set DATA_DIR to that of the simulator, and start it once before`,
      });
      expect(existsSync(folder)).toBe(false);
    } finally {
      await operator.close();
    }
  });

  it('is refused where only the national system answers, although a simulator has used the folder', async () => {
    const address = 'https://sefin.nfse.gov.br/SefinNacional';
    const operator = await openOperator([...companyCommands, ...certificateCommands], undefined, {
      ...{ AUTHORIZER_TEST_URL: address, AUTHORIZER_LIVE_URL: address },
    });
    try {
      const file = join(operator.folder, 'company.json');
      await writeFile(file, JSON.stringify(companyFile));
      await operator.run('company', 'put', file);
      expect(await operator.run('certificate', 'issue-demo', CNPJ)).toMatchObject({
        ...{ exit: 1, out: '', err: expect.stringMatching(/^no mode is simulated here, .*SIMULATED_MODES$/) },
      });
      expect((await operator.session.readModel.company(CNPJ))?.certificate).toBeUndefined();
    } finally {
      await operator.close();
    }
  });

  it('replaces no certificate of another authority while the national system answers in a mode', async () => {
    const operator = await openOperator([...companyCommands, ...certificateCommands], undefined, {
      AUTHORIZER_LIVE_URL: 'https://sefin.nfse.gov.br/SefinNacional',
    });
    const inFolder = (name: string): string => join(operator.folder, name);
    const certificateId = async () => (await operator.session.readModel.company(CNPJ))?.certificate?.certificateId;
    try {
      await writeFile(inFolder('company.json'), JSON.stringify(companyFile));
      await operator.run('company', 'put', inFolder('company.json'));
      expect(await operator.run('certificate', 'issue-demo', CNPJ)).toMatchObject({ exit: 0 });
      const now = systemClock.now();
      const issuer = issueCertificate({ subjectName: 'AC', organization: 'ICP-Brasil', validDays: 30, now });
      const made = issueCertificate({ subjectName: 'EMPRESA', issuer, cnpj: CNPJ, validDays: 9, now });
      await writeFile(inFolder('a1.pfx'), pfxOf(made.privateKeyPem, [made.certificatePem], { password }));
      await writeFile(inFolder('password'), password);
      const files = ['--pfx', inFolder('a1.pfx'), '--password-file', inFolder('password')];
      expect(await operator.run('certificate', 'put', CNPJ, ...files)).toMatchObject({ exit: 0 });
      const before = await certificateId();
      expect(await operator.run('certificate', 'issue-demo', CNPJ)).toEqual({
        ...{ exit: 1, out: '' },
        err: `the certificate of ${CNPJ} is not a simulator's and is not replaced: to take it out first, nfse company disable ${CNPJ} and nfse certificate remove ${CNPJ}`,
      });
      expect(await certificateId()).toBe(before);
    } finally {
      await operator.close();
    }
  });
});
