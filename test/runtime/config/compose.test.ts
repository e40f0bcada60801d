import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { readConfig, roles } from '../../../src/runtime/config/config.js';
import { pdfThreads, readingThreads } from '../../../src/runtime/config/machine.js';
import { composeService, readCompose, withDefaults } from '../../support/compose.js';
import { variableNames } from '../../tools/documents/environment-reference.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { services, volumes, networks } = readCompose();
const all = Object.entries(services);
const ours = all.filter(([, { image }]) => image.startsWith('nfse-issuance-service:'));
const oneShots = ['setup', 'database', 'eventstore-account', 'nfse'];

/** MB of one process at rest (docs/operations/scale.md#memory-and-disk). */
const AT_REST_MB = 150;

/** Of the profile of the same name, which is not started unless it is asked for. */
const observability = ['grafana', 'jaeger', 'prometheus'];

/** Nobody publishes its digest where it could be read: docs/operations/container.md#pin-images-by-digest. */
const WITHOUT_DIGEST = ['eventstore/eventstore:23.10.6-bookworm-slim'];

const READ_ONLY_SECRET = /^secrets-(\w+):\/run\/secrets\/\1:ro$/;

/** Volumes of secrets; what is not named here is a role, or the operator's commands. */
const READABLE: Readonly<Record<string, readonly string[]>> = {
  simulator: [],
  grafana: [],
  jaeger: [],
  prometheus: ['metrics'],
  postgres: ['postgres'],
  nats: ['nats'],
  eventstore: ['eventstore'],
  'eventstore-account': ['engines', 'eventstore'],
  database: ['engines', 'owner'],
};

const strings = v.array(v.string());
/** The members of the Compose Specification that compose.yaml uses. Any other member is a mistake, or must be added here after a check. */
const service = v.strictObject({
  image: v.string(),
  build: v.optional(v.strictObject({ context: v.literal('.'), dockerfile: v.literal('docs/operations/Dockerfile') })),
  pull_policy: v.optional(v.literal('never')),
  profiles: v.optional(strings),
  init: v.literal(true),
  read_only: v.literal(true),
  cap_drop: v.tuple([v.literal('ALL')]),
  security_opt: v.tuple([v.literal('no-new-privileges:true')]),
  restart: v.picklist(['unless-stopped', 'no']),
  stop_grace_period: v.literal('60s'),
  ulimits: v.strictObject({ core: v.literal(0) }),
  logging: v.strictObject({ driver: v.literal('local'), options: v.record(v.string(), v.string()) }),
  user: v.string(),
  group_add: v.optional(strings),
  hostname: v.optional(v.string()),
  shm_size: v.optional(v.string()),
  entrypoint: v.optional(strings),
  command: v.optional(strings),
  environment: v.optional(v.record(v.string(), v.string())),
  volumes: v.optional(strings),
  configs: v.optional(v.array(v.strictObject({ source: v.string(), target: v.string() }))),
  tmpfs: strings,
  networks: v.optional(strings),
  network_mode: v.optional(v.literal('none')),
  ports: v.optional(strings),
  depends_on: v.optional(
    v.record(
      v.string(),
      v.strictObject({ condition: v.picklist(['service_healthy', 'service_completed_successfully']) }),
    ),
  ),
  healthcheck: v.optional(
    v.union([
      v.strictObject({ disable: v.literal(true) }),
      v.strictObject({
        test: v.pipe(
          strings,
          v.check(([first]) => first === 'CMD'),
        ),
        interval: v.string(),
        timeout: v.string(),
        retries: v.number(),
        start_period: v.string(),
      }),
    ]),
  ),
  deploy: v.strictObject({
    resources: v.strictObject({
      limits: v.strictObject({ cpus: v.string(), memory: v.pipe(v.string(), v.regex(/^\d+[MG]$/)), pids: v.number() }),
    }),
  }),
});

describe('compose.yaml', () => {
  it('has services of known members, each hardened, limited and with a bound for its end', () => {
    const faults = all.flatMap(([name, text]) =>
      (v.safeParse(service, text).issues ?? []).map((issue) => `${name}: ${v.getDotPath(issue)} ${issue.message}`),
    );
    expect(faults).toEqual([]);
  });

  it('runs the engines, the simulator, and a service for each role', () => {
    const engines = ['eventstore', 'nats', 'postgres', 'simulator'];
    expect(Object.keys(services).toSorted()).toEqual([...engines, ...roles, ...oneShots, ...observability].toSorted());
    for (const role of roles) expect(composeService(role).command).toEqual(['serve', '--role', role]);
    for (const [name, { profiles }] of all) {
      const own = observability.includes(name) ? ['observability'] : name === 'nfse' ? ['operator'] : undefined;
      expect([name, profiles]).toEqual([name, own]);
    }
  });

  it('runs nobody as root', () => {
    for (const [name, { user }] of all) expect([name, user]).not.toEqual([name, expect.stringMatching(/^(root|0)\b/)]);
  });

  it('lets every role be started more than once', () => {
    for (const role of roles) {
      expect(services[role]).not.toHaveProperty('container_name');
      for (const port of services[role]?.ports ?? [])
        expect(withDefaults(port, { API_PORTS: '3000-3009' })).toBe('127.0.0.1:3000-3009:3000');
    }
  });

  it('publishes the port that BASE_URL names, and with a range starts only with a BASE_URL of its own', () => {
    const seen = (set: Readonly<Record<string, string>>) => {
      const [port = ''] = services.api?.ports ?? [];
      const url = withDefaults(services.api?.environment?.BASE_URL ?? '', set);
      return { url, port: withDefaults(port, set).split(':')[1] };
    };
    expect(seen({})).toEqual({ url: 'http://127.0.0.1:3000', port: '3000' });
    expect(seen({ API_PORTS: '8080' })).toEqual({ url: 'http://127.0.0.1:8080', port: '8080' });
    const range = seen({ API_PORTS: '3000-3009' });
    expect(readConfig({ BASE_URL: range.url })).toMatchObject({ problems: [expect.stringContaining('BASE_URL')] });
    const proxied = { API_PORTS: '3000-3009', BASE_URL: 'https://nfse.example' };
    expect(seen(proxied)).toEqual({ url: 'https://nfse.example', port: '3000-3009' });
  });

  it('gives each role memory for its threads, and for twice what a process takes at rest', () => {
    for (const role of roles) {
      const { memory, cpus, pids } = services[role]?.deploy.resources.limits ?? { memory: '', cpus: '', pids: 0 };
      const machine = { cores: Number(cpus), memoryMb: Number(memory.replace('M', '')) };
      const pools = [readingThreads(machine), ...(role === 'api' ? [pdfThreads(machine)] : [])];
      const heaps = pools.reduce((sum, { workers, heapMb }) => sum + workers * heapMb, 0);
      expect([role, machine.memoryMb - heaps]).toEqual([
        role,
        expect.toSatisfy((left: number) => left >= 2 * AT_REST_MB),
      ]);
      expect(pids).toBeGreaterThanOrEqual(64);
    }
  });

  it('mounts declared volumes, joins declared networks, and waits for services that there are', () => {
    for (const [name, { volumes: mounts = [], networks: joined = [], depends_on = {} }] of all) {
      for (const mount of mounts)
        expect([name, Object.keys(volumes)]).toEqual([name, expect.arrayContaining([mount.split(':')[0]])]);
      for (const network of joined) expect(Object.keys(networks)).toContain(network);
      for (const [other, { condition }] of Object.entries(depends_on)) {
        const awaited = condition === 'service_healthy' ? services[other]?.healthcheck?.test : oneShots.includes(other);
        expect([name, other, awaited]).toEqual([name, other, expect.anything()]);
        expect(awaited).not.toBe(false);
      }
    }
    const used = all.flatMap(([, { volumes: mounts = [] }]) => mounts.map((mount) => mount.split(':')[0]));
    expect(new Set(used)).toEqual(new Set(Object.keys(volumes)));
  });

  it('keeps the engines on a network without a way out, and publishes on loopback alone: the public API, and what shows metrics and traces', () => {
    expect(networks.engines).toEqual({ internal: true });
    expect(networks.observability).toEqual({ internal: true });
    for (const name of ['eventstore', 'nats', 'postgres']) expect(services[name]?.networks).toEqual(['engines']);
    const published = all.filter(([, { ports }]) => ports !== undefined).map(([name]) => name);
    expect(published).toEqual(['api', 'grafana', 'jaeger']);
    for (const [, { ports = [] }] of all) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('lets out whoever asks the authorizer: the sweeper too, before a verdict by time, and settling by command', () => {
    const asking = ['api', 'issuer', 'sweeper', 'nfse'];
    for (const name of asking) expect([name, services[name]?.networks]).toEqual([name, ['outside', 'engines']]);
  });

  it('sets only variables that the program reads', () => {
    for (const [name, { environment = {} }] of ours) {
      for (const variable of Object.keys(environment)) expect([name, ...variableNames]).toContain(variable);
    }
  });

  it('gives secrets by file only, from the folder that setup fills for their one reader', () => {
    const settings = all.flatMap(([, { environment = {}, command = [], entrypoint = [] }]) => [
      ...Object.entries(environment).map(([variable, value]) => `${variable}=${value}`),
      ...command,
      ...entrypoint,
    ]);
    for (const text of settings) {
      expect(text).not.toMatch(/:\/\/[^/\s$]*@/);
      expect(text).not.toMatch(/^\w*(PASSWORD|TOKEN|SECRET|KEY)=(?!"\$\$\(cat \/run\/secrets\/)/m);
    }
    for (const [name, { volumes: mounts = [] }] of all.filter(([name]) => name !== 'setup')) {
      const secrets = mounts.filter((mount) => mount.startsWith('secrets-'));
      for (const mount of secrets) expect([name, mount]).toEqual([name, expect.stringMatching(READ_ONLY_SECRET)]);
      const readable = secrets.map((mount) => READ_ONLY_SECRET.exec(mount)?.[1]);
      expect([name, readable.toSorted()]).toEqual([name, READABLE[name] ?? ['engines', 'metrics', 'nfse']]);
    }
  });

  it('names only files that the service can read, but for the master key that a one-shot names and does not get', () => {
    for (const [name, { environment = {}, volumes: mounts = [], command = [] }] of ours) {
      const named = [...Object.entries(environment), ...command.map((word) => ['command', word] as const)];
      for (const [variable, value] of named) {
        const [, folder] = /\/run\/secrets\/(\w+)\//.exec(withDefaults(value)) ?? [];
        if (folder === undefined || (name === 'database' && variable === 'MASTER_KEY_FILE')) continue;
        expect([name, mounts]).toEqual([name, expect.arrayContaining([`secrets-${folder}:/run/secrets/${folder}:ro`])]);
      }
    }
  });

  it('bounds every file system in memory', () => {
    for (const [name, { tmpfs }] of all)
      for (const mount of tmpfs) expect([name, mount]).toEqual([name, expect.stringMatching(/,size=\d+m$/)]);
  });

  it('pins every image: ours to the version of the package, another by version and digest', () => {
    const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { version: string };
    for (const [, { image }] of ours) expect(image).toBe(`nfse-issuance-service:${version}`);
    const foreign = all.filter(([, { image }]) => !image.startsWith('nfse-')).map(([, { image }]) => image);
    for (const image of foreign)
      expect(image).toMatch(/^[a-z/]+:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?(@sha256:[0-9a-f]{64})?$/);
    expect(foreign.filter((image) => !image.includes('@'))).toEqual(WITHOUT_DIGEST);
    const digests = foreign.flatMap((image) => image.split('@').slice(1));
    expect(new Set(digests).size).toBe(digests.length);
  });
});
