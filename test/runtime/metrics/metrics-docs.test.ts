import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readDashboard, readMonitoring, readRules, rulesFile } from '../../support/alert-rules.js';
import { itWith } from '../../support/needs.js';
import { ENDS_WITHIN_MS } from '../../support/patient.js';
import { readPromql } from '../../support/promql.js';

const rules = readRules();
const monitoring = readMonitoring();

const helpOfTheProgram = (): string =>
  execFileSync(process.execPath, ['--import', 'tsx', 'src/main.ts', '--help'], {
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
        labels: { severity: expect.stringMatching(/^(?:info|warning|critical)$/) },
        annotations: { summary: expect.stringMatching(/\S/) },
      });
      expect(readPromql(rule.expr).metrics.length).toBeGreaterThan(0);
      expect(rule.for ?? '0m').toMatch(/^\d+[smh]$/);
    }
  });

  it.each([
    ['API errors', 'nfse_http_requests_total'],
    ['accept p99', 'nfse_accept_duration_seconds_bucket'],
    ['projection lag', 'nfse_projection_lag_seconds'],
    ['waiting while nothing is issued', 'nfse_invoices_waiting'],
    ['unknown outcomes', 'nfse_unknown_outcomes_total'],
    ['an authorizer that is out', 'nfse_authorizer_circuit'],
    ['unsettled invoices and cancellations', 'nfse_unsettled'],
    ['stopped series', 'nfse_series_stopped'],
    ['companies without a certificate', 'nfse_companies_without_certificate'],
    ['parked', 'nfse_queue_parked'],
    ['number conflict', 'nfse_number_conflicts_total'],
    ['readiness', 'nfse_ready'],
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
      'NfseUnknownOutcomes',
      'NfseAuthorizerNotReached',
      'NfseNumberConflict',
    ]);
    const conflict = rules.find(({ alert }) => alert === 'NfseNumberConflict');
    expect(conflict?.expr).toMatch(/nfse_series_stopped\) > 0\s+or /);
  });

  it.each([30, 15, 7, 1])('warn when a certificate has less than %i days left', (days) => {
    const asked = rules.flatMap(({ expr }) => readPromql(expr).matchers);
    const bands = asked
      .filter(({ metric }) => metric === 'nfse_certificates_ending')
      .map(({ value }) => value.split('|'));
    expect(bands.filter((band) => band.includes(`${days}d`))).toHaveLength(1);
    expect(bands.flat()).toContain('over');
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
});

describe('monitoring.md', () => {
  it('has a heading for each alert and none besides', () => {
    const headings = [...monitoring.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(expect.arrayContaining(rules.map(({ alert }) => alert)));
    expect(headings).toHaveLength(rules.length);
  });

  it('names only commands that the program has', () => {
    const help = helpOfTheProgram();
    const commands = [...help.matchAll(/^ {2}([a-z]+(?: [a-z-]+)?)(?: |$)/gm)].map(([, command]) => command);
    const named = [...monitoring.matchAll(/`nfse ([a-z]+(?: [a-z][a-z-]*)?)/g)].map(([, command]) => command);
    expect(named.length).toBeGreaterThan(10);
    for (const command of named) expect(commands).toContain(command);
  });
});
