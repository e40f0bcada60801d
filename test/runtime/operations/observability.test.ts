import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { roles } from '../../../src/runtime/config/config.js';
import { composeService, readCompose, serviceText } from '../../support/compose.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const { configs, services } = readCompose();

/** The content of what the service gets at this path. */
const mounted = (service: string, target: string): unknown => {
  const found = serviceText(service).configs?.find((config) => config.target === target);
  const { file } = configs[found?.source ?? ''] ?? { file: 'none' };
  return parse(readFileSync(join(root, file), 'utf8'));
};

type Prometheus = {
  rule_files: string[];
  scrape_configs: [
    {
      job_name: string;
      authorization: { credentials_file: string };
      dns_sd_configs: [{ names: string[]; port: number }];
      relabel_configs: [{ target_label: string }];
    },
  ];
};

describe('the profile observability of compose.yaml', () => {
  it('mounts each file once, and files that there are', () => {
    const used = Object.values(services).flatMap(({ configs: mounts = [] }) => mounts);
    expect(used.map(({ source }) => source).toSorted()).toEqual(Object.keys(configs).toSorted());
    for (const { file } of Object.values(configs)) expect(readFileSync(join(root, file), 'utf8')).not.toBe('');
  });

  const [, path = ''] = /--config\.file=(\S+)/.exec((serviceText('prometheus').command ?? []).join(' ')) ?? [];

  it('asks every process of every role, with the token that the roles demand, under the name that the rules expect', () => {
    const [scrape] = (mounted('prometheus', path) as Prometheus).scrape_configs;
    expect(scrape.job_name).toBe('nfse');
    expect(scrape.dns_sd_configs[0].names.toSorted()).toEqual([...roles].toSorted());
    for (const role of roles) {
      const { OPS_PORT, OPS_HOST, METRICS_TOKEN_FILE } = composeService(role).environment;
      expect([OPS_PORT, OPS_HOST]).toEqual([String(scrape.dns_sd_configs[0].port), '0.0.0.0']);
      expect(METRICS_TOKEN_FILE).toBe(scrape.authorization.credentials_file);
    }
    const shared = (service: string) => serviceText(service).networks?.includes('engines');
    expect(['prometheus', 'jaeger', ...roles].map(shared)).not.toContain(false);
  });

  it('gives a process no label that a metric has, because Prometheus would rename that of the metric', () => {
    const [{ relabel_configs }] = (mounted('prometheus', path) as Prometheus).scrape_configs;
    const page = readFileSync(join(root, 'docs/operations/monitoring.md'), 'utf8');
    const labels = [...page.matchAll(/nfse_\w+\{([\w,]+)\}/g)].flatMap(([, names = '']) => names.split(','));
    expect(labels).toContain('role');
    expect(relabel_configs.filter(({ target_label }) => labels.includes(target_label))).toEqual([]);
  });

  it('evaluates the shipped rules', () => {
    const { rule_files } = mounted('prometheus', path) as Prometheus;
    for (const file of rule_files) expect(mounted('prometheus', join(dirname(path), file))).toHaveProperty('groups');
  });

  it('shows the shipped dashboard, over this Prometheus', () => {
    const folder = '/etc/grafana/provisioning';
    const { providers } = mounted('grafana', `${folder}/dashboards/nfse.yaml`) as {
      providers: [{ options: { path: string } }];
    };
    const { GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: home = '' } = composeService('grafana').environment;
    expect(dirname(home)).toBe(providers[0].options.path);
    expect(mounted('grafana', home)).toMatchObject({ uid: 'nfse' });
    const { datasources } = mounted('grafana', `${folder}/datasources/nfse.yaml`) as {
      datasources: [{ type: string; url: string; isDefault: boolean }];
    };
    expect(datasources).toMatchObject([{ type: 'prometheus', isDefault: true }]);
    expect(Object.keys(services)).toContain(new URL(datasources[0].url).hostname);
    const joined = (service: string) => serviceText(service).networks?.includes('observability');
    expect([joined('grafana'), joined('prometheus')]).toEqual([true, true]);
  });

  it('takes traces where the operator is told to send them', () => {
    const page = readFileSync(join(root, 'docs/operations/monitoring.md'), 'utf8');
    const [, address = ''] =
      /OTEL_EXPORTER_OTLP_ENDPOINT=(\S+) docker compose --profile observability/.exec(page) ?? [];
    expect(Object.keys(services)).toContain(new URL(address).hostname);
    for (const role of roles) expect(serviceText(role).environment).toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
  });
});
