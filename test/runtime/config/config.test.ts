import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyGoneAt } from '../../../src/app/retention/test-retention.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import {
  type Config,
  misspeltVariables,
  namedAsSet,
  readConfig,
  readSimulatorConfig,
} from '../../../src/runtime/config/config.js';
import { transportCheck } from '../../../src/runtime/operator/checks.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const problemsOf = (env: NodeJS.ProcessEnv): readonly string[] => {
  const result = readConfig(env);
  return 'problems' in result ? result.problems : [];
};

const configOf = (env: NodeJS.ProcessEnv): Config => {
  const result = readConfig(env);
  if ('problems' in result) throw new Error(result.problems.join('; '));
  return result.config;
};

const keyFile = join(temporaryFolder(), 'master.key');
writeFileSync(keyFile, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
const KEY = { MASTER_KEY_FILE: keyFile };

describe('the environment', () => {
  it('of a simulator apart from the service does without the variables of the service', () => {
    const env = { AUTHORIZER_CA_FILE: '/none/ca.pem', DATABASE_URL_FILE: '/none/url', SIMULATOR_PORT: '3443' };
    expect(readConfig(env)).toMatchObject({
      problems: expect.arrayContaining(['AUTHORIZER_CA_FILE cannot be read: there is no such file']),
    });
    const own = { DATA_DIR: '/srv/simulator', LOG_LEVEL: 'debug' };
    expect(readSimulatorConfig({ ...env, ...own })).toMatchObject({
      config: { dataDir: '/srv/simulator', logLevel: 'debug', simulator: { port: 3443 } },
    });
    const wrong = readSimulatorConfig({ ...env, SIMULATOR_CA_FILE: '/none/ca.pem' });
    expect(wrong).toEqual({ problems: ['SIMULATOR_CA_FILE cannot be read: there is no such file'] });
  });

  it('has the defaults of the operator interface', () => {
    const config = configOf({});
    expect(config.api).toEqual({ host: '127.0.0.1', port: 3000, baseUrl: undefined });
    expect(config.ops).toEqual({ host: '127.0.0.1', port: 3001 });
    expect(config.databaseUrl).toBeUndefined();
    expect(config.authorizer).toEqual({});
    expect(config.masterKeyFile).toBe(join(config.dataDir, 'master.key'));
    expect(config.rates).toEqual({ write: 60, read: 300 });
    expect(config.limits).toEqual({
      queuedSeconds: 900,
      processingSeconds: 3600,
      cancellationSeconds: 3600,
      testRetentionSeconds: 604_800,
      sendSeconds: 30,
      lookupIntervalsSeconds: [30, 60, 120, 300, 600],
    });
  });

  it('names every wrong variable in one answer', () => {
    const problems = problemsOf({
      PORT: 'abc',
      OPS_HOST: '0.0.0.0',
      LOG_LEVEL: 'loud',
      RATE_WRITE_PER_MINUTE: '10',
      QUEUED_TIMEOUT_S: '5',
      LOOKUP_INTERVALS_S: '30,,60',
      AUTHORIZER_LIVE_URL: 'http://plain.example',
      DATABASE_URL: 'postgres://db/nfse',
      NATS_URL: 'http://queue',
    });
    const named = ['PORT', 'OPERATOR_TOKEN_FILE', 'LOG_LEVEL', 'RATE_WRITE_PER_MINUTE', 'QUEUED_TIMEOUT_S'];
    const more = ['LOOKUP_INTERVALS_S', 'AUTHORIZER_LIVE_URL', 'MASTER_KEY_FILE', 'NATS_URL'];
    for (const name of [...named, ...more])
      expect(problems.filter((problem) => problem.startsWith(name))).toHaveLength(1);
    expect(problems).toHaveLength(9);
  });

  it.each(['a b', 'http://127.0.0.1', '127.0.0.1:3000', '[::1]', 'user@machine'])(
    'names a host that is no name or address (%s) with the other wrong variables',
    (host) => {
      const message = 'must be a host name or address, without http:// and without the port';
      expect(problemsOf({ HOST: host, PORT: 'abc' })).toEqual([`HOST ${message}`, 'PORT must be a whole number']);
      expect(problemsOf({ OPS_HOST: host })).toContain(`OPS_HOST ${message}`);
      expect(problemsOf({ SIMULATOR_HOST: host })).toEqual([`SIMULATOR_HOST ${message}`]);
    },
  );

  it.each(['0.0.0.0', '::', '::1', 'fe80::1%eth0', 'localhost', 'host-1.example.', 'máquina'])(
    'takes %s as a host',
    (host) => {
      expect(configOf({ HOST: host }).api.host).toBe(host);
    },
  );

  it('names a master key file that cannot be used with the other wrong variables, and does not look at it without one', () => {
    const bad = join(temporaryFolder(), 'master.key');
    writeFileSync(bad, 'abcd', { mode: 0o600 });
    const problems = (MASTER_KEY_FILE: string) => problemsOf({ PORT: 'abc', MASTER_KEY_FILE });
    const port = expect.stringMatching(/^PORT /);
    expect(problems(bad)).toEqual([port, expect.stringMatching(/^MASTER_KEY_FILE: .* must hold 32 bytes in base64/)]);
    expect(problems('/nope')).toEqual([port, expect.stringMatching(/^MASTER_KEY_FILE cannot be read: /)]);
    expect(problems(keyFile)).toEqual([port]);
    expect(problemsOf({ MASTER_KEY_FILE: bad })).toEqual([]);
  });

  it('has pools and time limits that fit the embedded database', () => {
    expect(configOf({}).database).toEqual({
      poolSize: 20,
      limits: { statementTimeoutMs: 15_000, lockTimeoutMs: 10_000, connectTimeoutMs: 5_000 },
    });
    const own = { DATABASE_URL: 'postgres://db/nfse?sslmode=verify-full', ...KEY };
    const set = { DATABASE_POOL_SIZE: '100', DATABASE_STATEMENT_TIMEOUT_S: '5', DATABASE_LOCK_TIMEOUT_S: '2' };
    expect(configOf({ ...own, ...set, DATABASE_CONNECT_TIMEOUT_S: '3' }).database).toEqual({
      poolSize: 100,
      limits: { statementTimeoutMs: 5_000, lockTimeoutMs: 2_000, connectTimeoutMs: 3_000 },
    });
  });

  it.each([
    ['DATABASE_POOL_SIZE', '9'],
    ['DATABASE_POOL_SIZE', '501'],
    ['DATABASE_POOL_SIZE', 'many'],
    ['DATABASE_STATEMENT_TIMEOUT_S', '1'],
    ['DATABASE_LOCK_TIMEOUT_S', '0'],
    ['DATABASE_LOCK_TIMEOUT_S', '16'],
    ['DATABASE_CONNECT_TIMEOUT_S', '61'],
  ])('refuses %s=%s by name', (name, value) => {
    const env = {
      DATABASE_URL: 'postgres://db/nfse?sslmode=verify-full',
      ...KEY,
      [name]: value,
    };
    expect(problemsOf(env)).toEqual([expect.stringMatching(new RegExp(`^${name} must`))]);
  });

  it('ends at once when it is asked to, unless a balancer needs some seconds', () => {
    expect(configOf({})).toMatchObject({ stopDelayMs: 0 });
    expect(configOf({ STOP_DELAY_S: '10' })).toMatchObject({ stopDelayMs: 10_000 });
    // A process ends itself after 55 s, of which a send takes 30 s.
    expect(problemsOf({ STOP_DELAY_S: '16' })).toEqual([expect.stringMatching(/^STOP_DELAY_S must/)]);
  });

  it('serves the docs and as many connections as there is room for, unless told otherwise', () => {
    expect(configOf({})).toMatchObject({ docs: true, maxConnections: undefined });
    expect(configOf({ DOCS: 'off', MAX_CONNECTIONS: '500' })).toMatchObject({ docs: false, maxConnections: 500 });
    expect(problemsOf({ DOCS: 'no', MAX_CONNECTIONS: '0' })).toEqual([
      expect.stringMatching(/^DOCS must be on or off/),
      expect.stringMatching(/^MAX_CONNECTIONS must/),
    ]);
  });

  it.each(['nonsense', 'https://user@nfse.example', 'https://nfse.example/?a=b', 'https://nfse.example/#a'])(
    'refuses %s as the address of links',
    (BASE_URL) =>
      expect(problemsOf({ BASE_URL })).toEqual([expect.stringMatching(/^BASE_URL must be a http: or https:/)]),
  );

  it.each([' https://nfse.example', 'https://nfse.example/\r', 'https:\\\\nfse.example', 'https://NFSE.example\n'])(
    'takes %j as the parser of URLs reads it, because the paths of links are appended to the text',
    (BASE_URL) => expect(configOf({ BASE_URL }).api.baseUrl).toBe('https://nfse.example'),
  );

  it('takes an address of the authorizer without the white space that a file of variables has left around it', () => {
    const { authorizer } = configOf({ AUTHORIZER_TEST_URL: 'https://sefin.example/SefinNacional \r' });
    expect(authorizer.test).toBe('https://sefin.example/SefinNacional');
  });

  it.each(['?a=b', '#a'])(
    'refuses an address of the authorizer with %s behind its path, which no call would reach',
    (end) =>
      expect(problemsOf({ AUTHORIZER_TEST_URL: `https://sefin.example/SefinNacional${end}` })).toEqual([
        'AUTHORIZER_TEST_URL must be a https: address without query and fragment',
      ]),
  );

  it('refuses a pool that the embedded database has no room for', () => {
    expect(problemsOf({ DATABASE_POOL_SIZE: '31' })).toEqual([
      'DATABASE_POOL_SIZE must be at most 30 without DATABASE_URL',
    ]);
  });

  it.each([
    ['postgres://user:secret@a:5432,b:5432/nfse', /^DATABASE_URL: expected one postgres:/],
    ['postgres://user:secret@a,b/nfse', /^DATABASE_URL: expected one postgres:/],
    ['postgres://user:secret@a/nfse?host=a,b', /^DATABASE_URL: expected one postgres:.* before several servers$/],
    [
      'postgres://user:secret@/nfse?host=/run/postgresql',
      /^DATABASE_URL: expected .*a socket %2Fits%2Ffolder as the host/,
    ],
    ['mysql://user:secret@a/nfse', /^DATABASE_URL: expected one postgres:/],
    ['postgres://user:secret/@a/nfse', /^DATABASE_URL: expected .* password percent-encoded \(\/ is %2F/],
    ['postgres://user:secret@a/nfse?sslmode=allow', /^DATABASE_URL: sslmode must be one of/],
    ['postgres://user:secret@a/nfse?sslrootcert=/missing', /^DATABASE_URL: sslrootcert names a file/],
  ])('refuses the database address %s and never shows it', (address, problem) => {
    const problems = problemsOf({ DATABASE_URL: address, ...KEY });
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems.join()).not.toContain('secret');
  });

  it('verifies certificate and name in every sslmode that asks for TLS', () => {
    const urlOf = (mode: string) =>
      configOf({ DATABASE_URL: `postgres://db/nfse?sslmode=${mode}`, ALLOW_PLAINTEXT_ENGINES: '1', ...KEY })
        .databaseUrl;
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      expect(urlOf(mode)).toBe('postgres://db/nfse?sslmode=verify-full');
    }
    expect(urlOf('disable')).toBe('postgres://db/nfse?sslmode=disable');
  });

  it('takes several NATS servers, from a mounted file too, and never shows what a bad address holds', () => {
    expect(configOf({ NATS_URL: 'tls://user:secret@a:4222,nats://b' }).natsUrl).toContain('nats://b');
    const file = join(temporaryFolder(), 'url');
    writeFileSync(file, 'tls://queue\n');
    expect(configOf({ NATS_URL_FILE: file }).natsUrl).toBe('tls://queue');
    expect(problemsOf({ NATS_URL: 'nats://user:secret@a,nats://other:secret@b' }).join()).not.toContain('secret');
  });

  it.each<[string, NodeJS.ProcessEnv]>([
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:secret@db/nfse' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:secret@10.0.0.7/nfse?sslmode=disable' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:secret@127.0.0.1/nfse?host=db.example' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:secret@db/nfse?uselibpqcompat=true&sslmode=disable' }],
    [
      'DATABASE_OWNER_URL',
      { DATABASE_URL: 'postgres://localhost/nfse', DATABASE_OWNER_URL: 'postgres://o:secret@db/nfse' },
    ],
    ['NATS_URL', { NATS_URL: 'nats://u:secret@queue:4222' }],
    ['NATS_URL', { NATS_URL: 'nats://127.0.0.1:4222,nats://queue' }],
    ['EVENTSTORE_URL', { EVENTSTORE_URL: 'esdb://log:2113?tls=false' }],
    ['EVENTSTORE_URL', { EVENTSTORE_URL: 'esdb+discover://u:secret@127.0.0.1:2113,log:2113?TLS=false' }],
  ])(
    'refuses a way to an engine beyond this machine without TLS in %s, unless plain text is allowed: %j',
    (name, env) => {
      const problems = problemsOf({ ...KEY, ...env });
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name} leads beyond this machine without TLS: `))]);
      expect(problems.join()).not.toContain('secret');
      const allowed = configOf({ ...KEY, ...env, ALLOW_PLAINTEXT_ENGINES: '1' });
      expect(transportCheck(allowed)).toMatchObject({
        ok: true,
        detail: `${name} has no TLS (ALLOW_PLAINTEXT_ENGINES)`,
      });
    },
  );

  it('names an address without TLS together with every other wrong value', () => {
    expect(problemsOf({ DATABASE_URL: 'postgres://db/nfse', NATS_URL: 'nats://queue', PORT: 'x' })).toEqual([
      expect.stringMatching(/^PORT /),
      expect.stringMatching(/^MASTER_KEY_FILE is required/),
      expect.stringMatching(/^DATABASE_URL leads beyond/),
      expect.stringMatching(/^NATS_URL leads beyond/),
    ]);
  });

  it.each<[NodeJS.ProcessEnv]>([
    [{ DATABASE_URL: 'postgres://u@localhost/nfse' }],
    [{ DATABASE_URL: 'postgres://u@[::1]/nfse' }],
    [{ DATABASE_URL: 'postgres://u@127.0.0.1/nfse?host=/var/run/postgresql' }],
    [{ DATABASE_URL: 'postgres://db/nfse?sslmode=verify-full' }],
    [{ DATABASE_URL: 'postgres://db/nfse?ssl=true' }],
    [{ NATS_URL: 'nats://localhost,nats://127.0.0.1:4223' }],
    [{ NATS_URL: 'tls://queue' }],
    [{ EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false' }],
    [{ EVENTSTORE_URL: 'esdb://u:p@log:2113' }],
    [{}],
  ])('takes a way that nobody can read along: %j', (env) => {
    expect(transportCheck(configOf({ ...KEY, ...env }))).toMatchObject({ ok: true });
    expect(transportCheck(configOf({ ...KEY, ...env }))).not.toHaveProperty('cure');
  });

  it.each([
    'sslmode=no-verify',
    'uselibpqcompat=true&sslmode=require',
    'uselibpqcompat=true&sslmode=prefer',
    'ssl=no-verify',
  ])('starts with TLS that verifies nobody, %s, and the doctor says so', (mode) => {
    const config = configOf({ ...KEY, DATABASE_URL: `postgres://db/nfse?${mode}` });
    const detail = 'DATABASE_URL has TLS without verification';
    expect(transportCheck(config)).toMatchObject({ ok: false, detail, cure: expect.stringContaining('verify-full') });
  });

  it('takes the address of an owner only beside the one of the service', () => {
    expect(problemsOf({ DATABASE_OWNER_URL: 'postgres://o@127.0.0.1/nfse' })).toEqual([
      expect.stringMatching(/^DATABASE_OWNER_URL needs DATABASE_URL/),
    ]);
  });

  it('takes shorter windows only for a rehearsal', () => {
    expect(problemsOf({ PROCESSING_TIMEOUT_S: '60' })).toHaveLength(1);
    expect(configOf({ PROCESSING_TIMEOUT_S: '60', ALLOW_SHORT_WINDOWS: '1' }).limits.processingSeconds).toBe(60);
  });

  it.each([
    ['TEST_RETENTION_S', 604_800],
    ['IDEMPOTENCY_TTL_S', 518_400],
    ['DUPLICATE_WINDOW_S', 86_400],
  ])('takes no %s above %i seconds, also for a rehearsal', (name, most) => {
    expect(problemsOf({ [name]: String(most) })).toEqual([]);
    for (const allowed of ['0', '1'])
      expect(problemsOf({ [name]: String(most + 1), ALLOW_SHORT_WINDOWS: allowed })).toEqual([
        `${name} must be at most ${most}`,
      ]);
  });

  it('takes no window that outlives what it protects', () => {
    const most = configOf({ TEST_RETENTION_S: '604800', IDEMPOTENCY_TTL_S: '518400' });
    expect(most.idempotencySeconds).toBeLessThan(most.limits.testRetentionSeconds);
    const lastMoment = addSeconds('2026-11-21T23:59:59.999Z', most.limits.testRetentionSeconds);
    expect(keyGoneAt('2026-11-21') > lastMoment).toBe(true);
  });

  it('treats an empty variable as absent', () => {
    expect(configOf({ PORT: '', BASE_URL: '' }).api).toEqual({ host: '127.0.0.1', port: 3000, baseUrl: undefined });
  });

  it('reads the database address from a mounted file, and refuses both', () => {
    const file = join(temporaryFolder(), 'url');
    writeFileSync(file, 'postgres://127.0.0.1/nfse\n');
    const env = { DATABASE_URL_FILE: file, ...KEY };
    expect(configOf(env).databaseUrl).toBe('postgres://127.0.0.1/nfse');
    expect(problemsOf({ ...env, DATABASE_URL: 'postgres://db/other' })).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set',
    ]);
    expect(problemsOf({ ...env, DATABASE_URL_FILE: '/nowhere' })).toContain(
      'DATABASE_URL_FILE cannot be read: there is no such file',
    );
  });

  it('names in a message the file variable whose address was used', () => {
    const line = 'check DATABASE_URL, DATABASE_OWNER_URL or EVENTSTORE_URL';
    expect(namedAsSet(line, {})).toBe(line);
    expect(namedAsSet(line, { DATABASE_URL: 'postgres://db/nfse', DATABASE_OWNER_URL_FILE: '/o' })).toBe(
      'check DATABASE_URL, DATABASE_OWNER_URL_FILE or EVENTSTORE_URL',
    );
    expect(namedAsSet('check DATABASE_URL', { DATABASE_URL: '', DATABASE_URL_FILE: '/d' })).toBe(
      'check DATABASE_URL_FILE',
    );
    expect(namedAsSet('DATABASE_URL_FILE cannot be read', { DATABASE_URL_FILE: '/d' })).toBe(
      'DATABASE_URL_FILE cannot be read',
    );
  });

  it.each([
    ['AUTHORIZER_CA_FILE', ({ authorizerRoots }: Config) => authorizerRoots],
    ['SIMULATOR_CA_FILE', ({ simulator }: Config) => simulator.clientAuthorities],
  ] as const)('reads the certificates of %s, beside the other problems', (name, certificates) => {
    const file = join(temporaryFolder(), 'ca.pem');
    expect(problemsOf({ PORT: 'x', [name]: file })).toEqual([
      `${name} cannot be read: there is no such file`,
      expect.stringMatching(/^PORT/),
    ]);
    writeFileSync(file, 'junk');
    expect(problemsOf({ [name]: file })).toEqual([`${name} is not a PEM file of certificates`]);
    const { certificatePem } = issueCertificate({ subjectName: 'CA', validDays: 1, now: '2026-11-21T12:00:00.000Z' });
    writeFileSync(file, `# ours\n${certificatePem}`);
    expect(certificates(configOf({ [name]: file }))).toEqual([certificatePem.trim()]);
    expect(certificates(configOf({}))).toEqual([]);
  });

  it('reads the operator token, and refuses one that could be guessed or cannot be read', () => {
    const file = join(temporaryFolder(), 'token');
    const env = { OPS_HOST: '0.0.0.0', OPERATOR_TOKEN_FILE: file };
    expect(problemsOf(env)).toEqual(['OPERATOR_TOKEN_FILE cannot be read: there is no such file']);
    expect(problemsOf({ METRICS_TOKEN_FILE: temporaryFolder() })).toEqual([
      'METRICS_TOKEN_FILE cannot be read (EISDIR)',
    ]);
    writeFileSync(file, 'fifteen letters\n');
    expect(problemsOf(env)).toEqual(['OPERATOR_TOKEN_FILE must hold at least 16 characters']);
    writeFileSync(file, 'abababababababab\n');
    expect(problemsOf({ METRICS_TOKEN_FILE: file })).toEqual([
      'METRICS_TOKEN_FILE must hold at least 8 different characters',
    ]);
    writeFileSync(file, 'sixteen letters!\n');
    expect(configOf(env).operatorToken).toBe('sixteen letters!');
    expect(configOf({ METRICS_TOKEN_FILE: file }).metricsToken).toBe('sixteen letters!');
    expect(configOf({}).operatorToken).toBeUndefined();
  });

  it('knows the names under which operators reach the console', () => {
    expect(configOf({ OPS_HOST: '127.0.0.1' }).consoleHosts).toEqual(['127.0.0.1']);
    expect(configOf({ OPS_HOST: '::1' }).consoleHosts).toEqual(['[::1]']);
    expect(configOf({ CONSOLE_HOSTS: 'Support.example,[fd00::1]' }).consoleHosts).toContain('support.example');
    expect(problemsOf({ CONSOLE_HOSTS: 'a b' })).toEqual(['CONSOLE_HOSTS must be host names separated by commas']);
  });
});

describe('a misspelt variable', () => {
  it('is named with the variable that it was probably meant as', () => {
    const env = {
      AUTHORIZER_LIVE_ULR: 'https://sefin.example',
      OPERATOR_TOKEN_FIL: '/t',
      DATABASE_URL_FILLE: '/d',
      PROT: '1',
      NATS_ULR: 'x',
      PORT: '1',
    };
    expect(misspeltVariables(env)).toEqual([
      { sent: 'AUTHORIZER_LIVE_ULR', meant: 'AUTHORIZER_LIVE_URL' },
      { sent: 'OPERATOR_TOKEN_FIL', meant: 'OPERATOR_TOKEN_FILE' },
      { sent: 'DATABASE_URL_FILLE', meant: 'DATABASE_URL_FILE' },
      { sent: 'PROT', meant: 'PORT' },
      { sent: 'NATS_ULR', meant: 'NATS_URL' },
    ]);
  });

  it('is also a variable with a _FILE that it does not have', () => {
    expect(misspeltVariables({ PORT_FILE: '/p', NATS_URL_FILE: '/n' })).toEqual([{ sent: 'PORT_FILE', meant: 'PORT' }]);
  });

  it('is also the name of a secret that only a file may hold, empty or not', () => {
    expect(misspeltVariables({ MASTER_KEY: '', OPERATOR_TOKEN: 'x', DATABASE_URL: '', NATS_URL: 'x' })).toEqual([
      { sent: 'MASTER_KEY', meant: 'MASTER_KEY_FILE' },
      { sent: 'OPERATOR_TOKEN', meant: 'OPERATOR_TOKEN_FILE' },
    ]);
  });

  it('is none of the variables of a usual machine', () => {
    const usual = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'TERM',
      'LANG',
      'HOSTS',
      'PORTS',
      'NATS_PORT',
      'POSTGRES_URL',
      'DATABASE_NAME',
    ];
    const more = [
      'NATS_SERVICE_HOST',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_SERVICE_NAME',
      'LOG_FORMAT',
      'PROFILE',
      'HOST_NAME',
      'DBUS_SESSION_BUS_ADDRESS',
      'NPM_CONFIG_CACHE',
      'KUBERNETES_PORT',
      'POSTGRES_PASSWORD_FILE',
      'SSL_CERT_FILE',
      'XAUTHORITY',
      'TEST_NATS_URL',
    ];
    expect(misspeltVariables(Object.fromEntries([...usual, ...more].map((name) => [name, 'x'])))).toEqual([]);
  });
});
