import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDashboard, readMonitoring, readRules, rulesFile } from '../../support/alert-rules.js';
import { compiledProgram } from '../../support/compiled.js';
import { itWith } from '../../support/needs.js';
import { ENDS_WITHIN_MS } from '../../support/patient.js';
import { readPromql } from '../../support/promql.js';

const rules = readRules();
const monitoring = readMonitoring();

/** The severity of an alert about work of one mode: nobody is woken for test mode. */
const BY_MODE = '{{ if eq $labels.mode "live" }}critical{{ else }}warning{{ end }}';

/** The values of a matcher of several. */
const bandsOf = (value: string): readonly string[] => value.split('|');

const helpOfTheProgram = (): string =>
  execFileSync(process.execPath, [compiledProgram('src/main.ts'), '--help'], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    encoding: 'utf8',
    timeout: ENDS_WITHIN_MS,
  });

describe('the alerting rules', () => {
  it('have a name of their own, a severity, a summary, and an expression whose brackets match', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule).toMatchObject({
        alert: expect.stringMatching(/^Nfse[A-Z0-9]\w+$/),
        annotations: { summary: expect.stringMatching(/\S/) },
      });
      expect(['info', 'warning', 'critical', BY_MODE]).toContain(rule.labels.severity);
      expect(readPromql(rule.expr).metrics.length).toBeGreaterThan(0);
      expect(rule.for ?? '0m').toMatch(/^\d+[smh]$/);
    }
  });

  it.each([
    ['API errors', 'nfse_http_requests_total'],
    ['accept p99', 'nfse_accept_duration_seconds_bucket'],
    ['projection lag', 'nfse_projection_lag_seconds'],
    ['waiting while nothing is issued', 'nfse_invoices_waiting'],
    ['refused invoices', 'nfse_invoice_outcomes_total'],
    ['roles', 'nfse_role'],
    ['disks', 'node_filesystem_avail_bytes'],
    ['unknown outcomes', 'nfse_unknown_outcomes_total'],
    ['an authorizer that is out', 'nfse_authorizer_circuit'],
    ['unsettled invoices and cancellations', 'nfse_unsettled'],
    ['stopped series', 'nfse_series_stopped'],
    ['companies without a certificate', 'nfse_companies_without_certificate'],
    ['the kill switch', 'nfse_api_off'],
    ['anchors', 'nfse_anchor_age_seconds'],
    ['clocks', 'nfse_clock_offset_seconds'],
    ['parked', 'nfse_queue_parked'],
    ['number conflict', 'nfse_number_conflicts_total'],
    ['readiness', 'nfse_check_ok'],
    ['projection halted', 'nfse_projection_halted'],
    ['simulator in use', 'nfse_mode_simulated'],
  ])('watch %s', (_what, metric) => {
    expect(rules.flatMap(({ expr }) => readPromql(expr).metrics)).toContain(metric);
  });

  it('stay while their cause does: what waits for a person is asked for by a gauge and never by a window alone', () => {
    const windows = rules.filter(({ expr }) => /increase\(|rate\(/.test(expr)).map(({ alert }) => alert);
    // Each of these is about sends, requests or appends under way: without any there is nothing to be late or wrong.
    expect(windows).toEqual([
      'NfseApiErrors',
      'NfseAcceptSlow',
      'NfseNothingIssued',
      'NfseInvoicesFailed',
      'NfseUnknownOutcomes',
      'NfseAuthorizerNotReached',
      'NfseNumberConflict',
    ]);
    const conflict = rules.find(({ alert }) => alert === 'NfseNumberConflict');
    expect(conflict?.expr).toMatch(/nfse_series_stopped[^>]+> 0\s+or /);
  });

  it.each([30, 15, 7, 1])('warn when a certificate has less than %i days left', (days) => {
    const asked = rules.map(({ expr }) =>
      readPromql(expr).matchers.filter(({ metric }) => metric === 'nfse_certificates_ending'),
    );
    const bands = asked.flatMap((matchers) => [...new Set(matchers.map(({ value }) => value))].map(bandsOf));
    expect(bands.filter((band) => band.includes(`${days}d`))).toHaveLength(1);
    expect(bands.flat()).toContain('over');
  });

  it('page for no work of test mode: what says its mode is critical in live mode only', () => {
    const critical = rules.filter(({ labels }) => labels.severity === 'critical');
    const ofSomeMode = critical.filter(({ expr }) => /by \([^)]*\bmode\b/.test(expr)).map(({ alert }) => alert);
    // The first and the last ask for live mode; a cancellation of a test invoice waits for nobody.
    expect(ofSomeMode).toEqual(['NfseInvoicesFailed', 'NfseCancellationUnconfirmed', 'NfseSimulatorInProduction']);
  });

  it('name the section of each in the documents, by a path that a clone has', () => {
    const anchors = [...monitoring.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name.toLowerCase());
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook_url).toBe(`docs/operations/monitoring.md#${alert.toLowerCase()}`);
      expect(anchors).toContain(annotations.runbook_url.split('#')[1]);
    }
  });

  it('keep installations apart that one Prometheus watches', () => {
    for (const { alert, expr } of rules) {
      const groups = [...expr.matchAll(/\b(?:by|on|without|ignoring) \(([^)]*)\)/g)].map(([, labels = '']) => labels);
      const together = groups.filter((labels) => !labels.split(', ').includes('installation'));
      // A role that no installation has.
      expect([alert, together]).toEqual([alert, alert === 'NfseRoleMissing' ? Array(5).fill('role') : []]);
      expect([alert, expr]).toEqual([alert, expect.not.stringMatching(/\b(?:sum|min|max|count) ?\((?! ?by)/)]);
    }
  });

  it('round the numbers that Prometheus extrapolates', () => {
    for (const { alert, expr, annotations } of rules.filter(({ expr }) => expr.includes('increase('))) {
      expect([alert, expr, annotations.summary]).toEqual([alert, expr, expect.not.stringContaining('{{ $value }}')]);
    }
  });

  itWith('promtool', 'are what Prometheus takes', () => {
    const checked = spawnSync('promtool', ['check', 'rules', rulesFile], { encoding: 'utf8' });
    expect([checked.status, checked.stderr]).toEqual([0, '']);
  });
});

describe('the dashboard', () => {
  it('asks with expressions whose brackets match', () => {
    expect(readDashboard().length).toBeGreaterThan(30);
    for (const { expr } of readDashboard()) expect(readPromql(expr).metrics).not.toEqual([]);
  });

  it('asks for the chosen installation only, and for processes of this service', () => {
    for (const { title, expr } of readDashboard()) {
      const { metrics, matchers } = readPromql(expr);
      for (const metric of metrics) {
        const labels = matchers.filter((matcher) => matcher.metric === metric).map(({ label }) => label);
        expect([title, labels]).toEqual([title, expect.arrayContaining(['installation'])]);
        if (!metric.startsWith('nfse_')) expect([title, labels]).toEqual([title, expect.arrayContaining(['job'])]);
      }
    }
  });
});

describe('monitoring.md', () => {
  it('has a heading for each alert and none besides', () => {
    const headings = [...monitoring.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(headings.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });

  it('says of each alert whether it may wait', () => {
    const [, table = ''] = monitoring.split('\n### Which alert wakes somebody\n');
    const rows =
      table
        .split('\n### ')[0]
        ?.split('\n')
        .filter((line) => line.startsWith('| [')) ?? [];
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/\[(\w+)\]/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });

  it('gives an Alertmanager that wakes somebody for critical alerts, except those that the table lets wait', () => {
    const [, example = ''] = /```yaml\n(route:[\s\S]*?)```/.exec(monitoring) ?? [];
    const { route, receivers, inhibit_rules } = parse(example) as {
      route: { receiver: string; group_by: string[]; routes: { receiver: string; matchers: string[] }[] };
      receivers: { name: string }[];
      inhibit_rules: { source_matchers: string[]; target_matchers: string[]; equal: string[] }[];
    };
    expect(route.group_by).toContain('installation');
    for (const { source_matchers, target_matchers, equal } of inhibit_rules) {
      for (const matcher of [...source_matchers, ...target_matchers]) {
        expect(rules.map(({ alert }) => alert)).toContain(/^alertname="(\w+)"$/.exec(matcher)?.[1]);
      }
      expect(equal).toEqual(['installation', 'instance']);
    }
    expect(inhibit_rules).toHaveLength(1);
    const [pager] = route.routes;
    const waits = /alertname!~"([^"]+)"/.exec(pager?.matchers.join() ?? '')?.[1]?.split('|') ?? [];
    const rows = monitoring.split('\n').filter((line) => line.includes('| until the morning'));
    expect(waits.toSorted()).toEqual(
      rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/\[(\w+)\]/g)].map(([, name]) => name)).toSorted(),
    );
    expect(receivers.map(({ name }) => name)).toEqual([route.receiver, pager?.receiver]);
    const severities = new Map(rules.map(({ alert, labels }) => [alert, labels.severity]));
    for (const alert of waits) expect(['critical', BY_MODE]).toContain(severities.get(alert));
  });

  it('names only commands that the program has', () => {
    const help = helpOfTheProgram();
    const commands = [...help.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?)(?: |$)/gm)].map(([, command]) => command);
    const named = [...monitoring.matchAll(/`nfse ([a-z]+(?: [a-z][a-z-]*)?)/g)].map(([, command]) => command);
    expect(named.length).toBeGreaterThan(10);
    for (const command of named) expect(commands).toContain(command);
  });
});
