import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { roles } from '../../../src/runtime/config/config.js';
import { composeService, readCompose, serviceText, withDefaults } from '../../support/compose.js';
import { variableNames } from '../../tools/documents/environment-reference.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { services, volumes, networks } = readCompose();
const all = Object.entries(services);
const ours = all.filter(([, { image }]) => image.startsWith('nfse-issuance-service:'));
const oneShots = ['setup', 'database', 'eventstore-account', 'nfse'];
const dockerfile = serviceText('setup').build?.dockerfile_inline ?? '';

const READ_ONLY_SECRET = /^secrets-(\w+):\/run\/secrets\/\1:ro$/;

/** Volumes of secrets; what is not named here is a role, or the operator's commands. */
const READABLE: Readonly<Record<string, readonly string[]>> = {
  simulator: [],
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
  build: v.optional(v.strictObject({ context: v.literal('.'), dockerfile_inline: v.string() })),
  pull_policy: v.optional(v.literal('never')),
  profiles: v.optional(strings),
  init: v.literal(true),
  read_only: v.literal(true),
  cap_drop: v.tuple([v.literal('ALL')]),
  security_opt: v.tuple([v.literal('no-new-privileges:true')]),
  restart: v.picklist(['unless-stopped', 'no']),
  stop_grace_period: v.literal('60s'),
  logging: v.strictObject({ driver: v.literal('local'), options: v.record(v.string(), v.string()) }),
  user: v.string(),
  group_add: v.optional(strings),
  hostname: v.optional(v.string()),
  shm_size: v.optional(v.string()),
  entrypoint: v.optional(strings),
  command: v.optional(strings),
  environment: v.optional(v.record(v.string(), v.string())),
  volumes: v.optional(strings),
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
    expect(Object.keys(services).toSorted()).toEqual([...engines, ...roles, ...oneShots].toSorted());
    for (const role of roles) expect(composeService(role).command).toEqual(['serve', '--role', role]);
  });

  it('runs nobody as root', () => {
    for (const [name, { user }] of all) expect([name, user]).not.toEqual([name, expect.stringMatching(/^(root|0)\b/)]);
  });

  it('lets every role be started more than once', () => {
    for (const role of roles) {
      expect(services[role]).not.toHaveProperty('container_name');
      for (const port of services[role]?.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+-\d+:\d+$/);
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

  it('keeps the engines on a network without a way out, and publishes the public API alone, on loopback', () => {
    expect(networks.engines).toEqual({ internal: true });
    for (const name of ['eventstore', 'nats', 'postgres']) expect(services[name]?.networks).toEqual(['engines']);
    expect(all.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(['api']);
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
      ...[...command, ...entrypoint],
    ]);
    for (const text of settings) {
      expect(text).not.toMatch(/:\/\/[^/\s$]*@/);
      expect(text).not.toMatch(/^\w*(PASSWORD|TOKEN|SECRET|KEY)=(?!"\$\$\(cat \/run\/secrets\/)/m);
    }
    for (const [name, { volumes: mounts = [] }] of all.filter(([name]) => name !== 'setup')) {
      const secrets = mounts.filter((mount) => mount.startsWith('secrets-'));
      for (const mount of secrets) expect([name, mount]).toEqual([name, expect.stringMatching(READ_ONLY_SECRET)]);
      const readable = secrets.map((mount) => READ_ONLY_SECRET.exec(mount)?.[1]);
      expect([name, readable.toSorted()]).toEqual([name, READABLE[name] ?? ['engines', 'nfse']]);
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

  it('keeps compilers and package managers out of the image that runs', () => {
    const [, , final = ''] = dockerfile.split(/^(?=FROM )/m);
    expect(final).not.toMatch(/RUN npm/);
    expect(final).toMatch(/rm -rf \/usr\/local\/lib\/node_modules .*\/npm /);
    expect(dockerfile).not.toMatch(/apt-get|build-essential|node-gyp/);
  });

  it('pins every image, ours to the version of the package', () => {
    const { version } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { version: string };
    for (const [, { image }] of ours) expect(image).toBe(`nfse-issuance-service:${version}`);
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
    expect(bases).toHaveLength(3);
    const foreign = all.filter(([, { image }]) => !image.startsWith('nfse-')).map(([, { image }]) => image);
    for (const image of [...bases, ...foreign]) expect(image).toMatch(/^[a-z/]+:\d+\.\d+(\.\d+)?-[a-z-]+$/);
  });

  it('builds from files of the repository, with the commands that build it elsewhere', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
      sources.split(' '),
    );
    expect(copied.length).toBeGreaterThan(5);
    for (const source of copied) expect([source, existsSync(`${root}/${source}`)]).toEqual([source, true]);
    const runs = [...dockerfile.matchAll(/^RUN (npm (?:ci(?: --omit=dev)?|run \w+))/gm)].map(([, run]) => run);
    expect(runs).toEqual(['npm ci', 'npm run build', 'npm ci --omit=dev']);
    const { bin } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { bin: { nfse: string } };
    expect(dockerfile).toContain(`ENTRYPOINT ["node", "/app/${bin.nfse.replace('./', '')}"]`);
  });

  it('makes in the image each folder that an empty volume takes its owner from', () => {
    const targets = (serviceText('setup').volumes ?? []).map((mount) => mount.split(':')[1] ?? '');
    const made =
      dockerfile
        .replaceAll(/\\\n\s*/g, '')
        .match(/RUN install .*/)?.[0]
        .split(/\s+/) ?? [];
    expect(targets.length).toBeGreaterThan(0);
    for (const target of targets) expect(made).toContain(target);
  });
});
