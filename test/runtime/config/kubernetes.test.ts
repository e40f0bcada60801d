import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig, roles } from '../../../src/runtime/config/config.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { variableNames } from '../../tools/documents/environment-reference.js';

const read = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), 'utf8');

const labels = v.strictObject({ app: v.string(), part: v.string() });
const namespace = v.strictObject({ 'kubernetes.io/metadata.name': v.pipe(v.string(), v.regex(/^<[a-z-]+>$/)) });
const probe = (path: string) =>
  v.object({ httpGet: v.strictObject({ path: v.literal(path), port: v.literal('ops') }), periodSeconds: v.number() });
const container = v.strictObject({
  name: v.string(),
  image: v.pipe(v.string(), v.regex(/^<registry>\/nfse-issuance-service:\d+\.\d+\.\d+$/)),
  args: v.tuple([v.literal('serve'), v.literal('--role'), v.string()]),
  envFrom: v.tuple([v.strictObject({ configMapRef: v.strictObject({ name: v.literal('nfse') }) })]),
  ports: v.array(v.strictObject({ name: v.string(), containerPort: v.number() })),
  startupProbe: probe('/health/startup'),
  livenessProbe: probe('/health/live'),
  readinessProbe: v.union([probe('/health/serving'), probe('/health/ready')]),
  lifecycle: v.optional(
    v.strictObject({
      preStop: v.strictObject({ exec: v.strictObject({ command: v.tuple([v.literal('sleep'), v.literal('5')]) }) }),
    }),
  ),
  resources: v.strictObject({
    requests: v.strictObject({ cpu: v.string(), memory: v.string() }),
    limits: v.strictObject({ memory: v.string() }),
  }),
  securityContext: v.strictObject({
    allowPrivilegeEscalation: v.literal(false),
    readOnlyRootFilesystem: v.literal(true),
    capabilities: v.strictObject({ drop: v.tuple([v.literal('ALL')]) }),
  }),
  volumeMounts: v.array(v.object({ name: v.string(), mountPath: v.string() })),
});
/** The members of a Deployment that kubernetes.yaml uses. Any other member is a mistake, or must be added here after a check. */
const deployment = v.strictObject({
  apiVersion: v.literal('apps/v1'),
  kind: v.literal('Deployment'),
  metadata: v.strictObject({ name: v.string(), labels }),
  spec: v.strictObject({
    replicas: v.pipe(v.number(), v.minValue(2)),
    selector: v.strictObject({ matchLabels: labels }),
    strategy: v.strictObject({ rollingUpdate: v.strictObject({ maxUnavailable: v.number(), maxSurge: v.number() }) }),
    template: v.strictObject({
      metadata: v.strictObject({ labels }),
      spec: v.strictObject({
        automountServiceAccountToken: v.literal(false),
        terminationGracePeriodSeconds: v.pipe(v.number(), v.minValue(60)),
        securityContext: v.looseObject({ runAsNonRoot: v.literal(true), runAsUser: v.number() }),
        initContainers: v.tuple([
          v.looseObject({
            command: v.tuple([v.literal('sh'), v.literal('-c'), v.pipe(v.string(), v.startsWith('install -m 0400 '))]),
          }),
        ]),
        containers: v.tuple([container]),
        volumes: v.array(v.looseObject({ name: v.string() })),
      }),
    }),
  }),
});
const others = v.variant('kind', [
  v.strictObject({
    apiVersion: v.literal('v1'),
    kind: v.literal('ConfigMap'),
    metadata: v.strictObject({ name: v.literal('nfse') }),
    data: v.record(v.string(), v.string()),
  }),
  v.strictObject({
    apiVersion: v.literal('v1'),
    kind: v.literal('Service'),
    metadata: v.strictObject({ name: v.string() }),
    spec: v.object({ selector: labels }),
  }),
  v.strictObject({
    apiVersion: v.literal('networking.k8s.io/v1'),
    kind: v.literal('NetworkPolicy'),
    metadata: v.strictObject({ name: v.string() }),
    spec: v.strictObject({
      podSelector: v.strictObject({ matchLabels: v.strictObject({ app: v.string(), part: v.optional(v.string()) }) }),
      policyTypes: v.tuple([v.literal('Ingress')]),
      ingress: v.tuple([
        v.strictObject({
          from: v.tuple([v.strictObject({ namespaceSelector: v.strictObject({ matchLabels: namespace }) })]),
          ports: v.tuple([v.strictObject({ protocol: v.literal('TCP'), port: v.number() })]),
        }),
      ]),
    }),
  }),
  v.strictObject({
    apiVersion: v.literal('policy/v1'),
    kind: v.literal('PodDisruptionBudget'),
    metadata: v.strictObject({ name: v.string() }),
    spec: v.strictObject({ minAvailable: v.literal(1), selector: v.strictObject({ matchLabels: labels }) }),
  }),
]);

const documents = parseAllDocuments(read('docs/operations/kubernetes.yaml')).map(
  (one) => one.toJS() as { kind: string },
);
const deployments = documents
  .filter(({ kind }) => kind === 'Deployment')
  .map((one) => {
    const { metadata, spec: wanted } = v.parse(deployment, one);
    return { labels: metadata.labels, wanted, pod: wanted.template };
  });
const rest = documents
  .filter(({ kind }) => kind !== 'Deployment')
  .map((one) => {
    const parsed = v.parse(others, one);
    if (parsed.kind === 'ConfigMap' || parsed.kind === 'NetworkPolicy') return parsed;
    const { spec: wanted, ...named } = parsed;
    return { ...named, selected: 'matchLabels' in wanted.selector ? wanted.selector.matchLabels : wanted.selector };
  });
const settings = rest.flatMap((one) => (one.kind === 'ConfigMap' ? [one.data] : []))[0] ?? {};
const containers = deployments.map(({ pod: { spec: process } }) => process.containers[0]);

describe('the manifests for Kubernetes', () => {
  it('run every role, and each once', () => {
    expect(containers.flatMap(({ args }) => args[2].split(',')).toSorted()).toEqual([...roles].toSorted());
  });

  it('send no request to a process that stops, and keep sending to all of them while an engine is away', () => {
    const told = deployments.map(({ labels: { part }, pod: { spec: process } }) => {
      const [{ lifecycle, readinessProbe }] = process.containers;
      return { part, waits: lifecycle !== undefined, asks: readinessProbe.httpGet.path };
    });
    expect(told).toEqual([
      { part: 'api', waits: true, asks: '/health/serving' },
      { part: 'workers', waits: false, asks: '/health/ready' },
    ]);
  });

  it('select what they run, with a disruption budget for each', () => {
    const parts = deployments.map(({ labels: own, wanted, pod }) => {
      expect([wanted.selector.matchLabels, pod.metadata.labels]).toEqual([own, own]);
      return own;
    });
    const guarded = rest.flatMap((one) => (one.kind === 'PodDisruptionBudget' ? [one.selected] : []));
    expect(guarded).toEqual(parts);
    const served = rest.flatMap((one) => (one.kind === 'Service' ? [one.selected] : []));
    expect(served).toEqual(parts.filter(({ part }) => part === 'api'));
  });

  it('have settings that the program reads without a complaint, with the secrets that the page names', () => {
    expect(Object.keys(settings).filter((name) => !variableNames.includes(name))).toEqual([]);
    const page = read('docs/operations/kubernetes.md');
    const folder = join(temporaryFolder(), 'nfse');
    mkdirSync(folder);
    const contents: Readonly<Record<string, string>> = {
      'database-url': 'postgresql://nfse:secret@postgres.example/nfse?sslmode=verify-full',
      'nats-url': 'tls://nats.example:4222',
      'master.key': Buffer.alloc(32, 7).toString('base64'),
    };
    const env = Object.fromEntries(
      Object.entries(settings).map(([name, value]) => {
        if (!name.endsWith('_FILE')) return [name, value];
        const file = value.replace('/run/secrets/nfse/', '');
        expect([name, page]).toEqual([name, expect.stringContaining(`--from-file=${file}`)]);
        writeFileSync(join(folder, file), contents[file] ?? 't7Kp2mXq9Zr4Lw8Vb3Nc');
        return [name, join(folder, file)];
      }),
    );
    expect(readConfig(env)).toHaveProperty('config');
    for (const { volumeMounts } of containers)
      expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual(['/run/secrets/nfse', '/tmp']);
  });

  it('let only monitoring reach the operations port, and only the ingress the API', () => {
    const policies = rest.filter((one) => one.kind === 'NetworkPolicy');
    const open = policies.map(
      ({
        spec: {
          podSelector,
          ingress: [{ from, ports }],
        },
      }) => ({
        pods: podSelector.matchLabels,
        from: from[0].namespaceSelector.matchLabels['kubernetes.io/metadata.name'],
        port: String(ports[0].port),
      }),
    );
    expect(open).toEqual([
      { pods: { app: 'nfse' }, from: '<monitoring-namespace>', port: settings.OPS_PORT },
      { pods: { app: 'nfse', part: 'api' }, from: '<ingress-namespace>', port: settings.PORT },
    ]);
    for (const { labels: own } of deployments) expect(own.app).toBe('nfse');
    const page = read('docs/operations/kubernetes.md');
    for (const { from } of open) expect(page).toContain(from);
  });

  it('name the ports of the settings', () => {
    for (const { ports } of containers) {
      const byName = Object.fromEntries(ports.map(({ name, containerPort }) => [name, String(containerPort)]));
      expect(byName.ops).toBe(settings.OPS_PORT);
      if ('http' in byName) expect(byName.http).toBe(settings.PORT);
    }
  });
});
