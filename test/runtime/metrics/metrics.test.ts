import { once } from 'node:events';
import { get } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { roles as allRoles } from '../../../src/runtime/config/config.js';
import { readDashboard, readRules } from '../../support/alert-rules.js';
import { eventually } from '../../support/eventually.js';
import { type RunningService, startRunningService } from '../../support/harness/running-service.js';
import { type ShownMetrics, scrape } from '../../support/metrics-text.js';
import { describeWithPostgres } from '../../support/postgres.js';
import { readPromql } from '../../support/promql.js';
import { readManifest } from '../../tools/supply-chain/lock.js';

/** Prometheus gives these to every series, the last where the operator names it. */
const LABELS_OF_THE_SCRAPE = ['job', 'instance', 'installation'];

type Body = { id: string; status: string; cancellation?: { status: string } };

describeWithPostgres('/metrics of a service that issued, canceled, lost an answer and was refused', () => {
  let running: RunningService;
  let shown: ShownMetrics;
  const ids: string[] = [];

  const call = async (method: string, path: string, body?: unknown, headers = {}): Promise<Body> => {
    const response = await fetch(`${running.service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${running.keys.test}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return (text.startsWith('{') ? JSON.parse(text) : {}) as Body;
  };

  const issue = async (amount: number): Promise<Body> => {
    const { id } = await call('POST', '/v1/nfse', { amount_in_cents: amount, description: `Serviço ${amount}` });
    ids.push(id);
    return await eventually(
      () => call('GET', `/v1/nfse/${id}`),
      ({ status }) => !['queued', 'processing'].includes(status),
    );
  };

  const fault = (kind: string, amount: number, rest: object = {}) =>
    running.control('POST', '/_control/faults', {
      on: 'issue',
      kind,
      times: 1,
      match: { amount_in_cents: amount },
      ...rest,
    });

  beforeAll(async () => {
    running = await startRunningService({
      // A call that a busy machine makes slow would be counted as one more without an answer.
      AUTHORIZER_TIMEOUT_S: '30',
      LOOKUP_INTERVALS_S: '1,1',
      SWEEP_INTERVAL_S: '1',
      RATE_WRITE_PER_MINUTE: '60',
    });
    await fault('reject', 20_002, { code: 'E0190' });
    await fault('lost_after_commit', 20_003);
    const canceled = await issue(20_001);
    expect([canceled, await issue(20_002), await issue(20_003)].map(({ status }) => status)).toEqual([
      'issued',
      'failed',
      'issued',
    ]);
    await call('POST', `/v1/nfse/${canceled.id}/cancel`, {});
    await eventually(
      () => call('GET', `/v1/nfse/${canceled.id}`),
      ({ cancellation }) => cancellation?.status !== 'pending',
    );
    await call('POST', '/v1/nfse', { amount_in_cents: 0 });
    await call('GET', '/v1/nothing/of/ours');
    await call('PROPFIND', `/v1/nfse/${canceled.id}`);
    await call('GET', '/v1/nfse/none', undefined, { authorization: 'Bearer svc_sk_test_unknown' });
    const [refused] = await once(get(running.service.url, { headers: { expect: 'nothing' } }), 'response');
    refused.resume();
    for (let sent = 0; sent < 60; sent++) await call('POST', '/v1/nfse', { amount_in_cents: 0 });
    shown = await eventually(
      () => scrape(running.service.opsUrl),
      ({ samples, value }) =>
        value('nfse_projection_lag_seconds') === 0 &&
        value('nfse_invoices_waiting') === 0 &&
        value('nfse_ready') === 1 &&
        samples.every((sample) => sample.name !== 'nfse_source_ok' || sample.value === 1),
    );
  });
  afterAll(() => running.close());

  it('counts each outcome once, by mode and by the event that gave it', () => {
    const outcomes = (labels: Record<string, string>) => shown.value('nfse_invoice_outcomes_total', labels);
    expect(shown.value('nfse_invoices_accepted_total', { mode: 'test' })).toBe(3);
    expect(outcomes({ mode: 'test', outcome: 'issued', event: 'Authorized' })).toBe(2);
    expect(outcomes({ mode: 'test', outcome: 'failed', event: 'IssuanceRejected' })).toBe(1);
    expect(outcomes({ mode: 'test' })).toBe(3);
    expect(outcomes({ mode: 'live' })).toBe(0);
    expect(shown.value('nfse_invoice_refusals_total', { mode: 'test', code: 'E0190' })).toBe(1);
    expect(shown.value('nfse_invoice_refusals_total', { mode: 'live' })).toBe(0);
    expect(shown.value('nfse_cancellation_outcomes_total', { mode: 'test', outcome: 'succeeded' })).toBe(1);
    expect(shown.value('nfse_cancellations_requested_total', { mode: 'test' })).toBe(1);
  });

  it('counts attempts, unknown outcomes and look-ups', () => {
    expect(shown.value('nfse_attempts_total', { mode: 'test', work: 'issue' })).toBe(3);
    expect(shown.value('nfse_attempts_total', { mode: 'test', work: 'cancel' })).toBe(1);
    expect(shown.value('nfse_unknown_outcomes_total', { mode: 'test', work: 'issue' })).toBe(1);
    expect(shown.value('nfse_lookups_total', { operation: 'find_by_dps', result: 'found' })).toBe(1);
    const calls = (labels: Record<string, string>) =>
      shown.value('nfse_authorizer_call_duration_seconds_count', { mode: 'test', ...labels });
    expect(calls({ operation: 'send_dps', outcome: 'done' })).toBe(1);
    expect(calls({ operation: 'send_dps', outcome: 'rejected' })).toBe(1);
    expect(calls({ operation: 'send_dps', outcome: 'unknown' })).toBe(1);
    expect(calls({ operation: 'send_cancellation', outcome: 'done' })).toBe(1);
  });

  it('measures acceptance, the way to the outcome, and appends', () => {
    expect(shown.value('nfse_accept_duration_seconds_count')).toBe(3);
    expect(shown.value('nfse_issue_duration_seconds_count', { outcome: 'issued' })).toBe(2);
    expect(shown.value('nfse_issue_duration_seconds_count', { outcome: 'failed' })).toBe(1);
    expect(shown.value('nfse_issue_duration_seconds_sum', { outcome: 'issued' })).toBeGreaterThan(0);
    expect(shown.value('nfse_event_log_append_duration_seconds_count', { result: 'ok' })).toBeGreaterThan(10);
  });

  it('counts requests by route template, method, status and error code', () => {
    const requests = (labels: Record<string, string>) => shown.value('nfse_http_requests_total', labels);
    expect(requests({ route: '/v1/nfse', method: 'POST', status: '202', code: 'none' })).toBe(3);
    expect(requests({ route: '/v1/nfse/:id/cancel', method: 'POST', status: '202' })).toBe(1);
    expect(requests({ route: '/v1/nfse', status: '400', code: 'invalid_request' })).toBeGreaterThan(0);
    expect(requests({ route: 'unmatched', method: 'GET', status: '404', code: 'route_not_found' })).toBe(1);
    expect(requests({ route: 'unmatched', method: 'other' })).toBe(1);
    expect(requests({ route: 'unmatched', method: 'GET', status: '417', code: 'invalid_request' })).toBe(1);
    expect(requests({ status: '401', code: 'unauthorized' })).toBe(1);
    expect(requests({ route: '/v1/nfse', method: 'POST', status: '503', code: 'service_unavailable' })).toBe(0);
    expect(requests({ route: '/v1/nfse/:id/pdf', method: 'GET', status: '500', code: 'internal_error' })).toBe(0);
    expect(shown.value('nfse_rate_limited_requests_total', { route: '/v1/nfse' })).toBeGreaterThan(0);
  });

  it('has no label that a client or an invoice chose', () => {
    const values = shown.samples.flatMap(({ labels }) => Object.values(labels));
    for (const value of [...ids.flatMap((id) => [id, id.slice(5)]), '/v1/nothing/of/ours', 'PROPFIND']) {
      expect(values).not.toContain(value);
    }
    expect(values.filter((value) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(value))).toEqual([]);
  });

  it('shows what waits, what is parked, how old the read model is and how long certificates last', () => {
    expect(shown.value('nfse_queue_depth')).toBe(0);
    expect(shown.value('nfse_queue_parked')).toBe(0);
    expect(shown.value('nfse_cancellations_waiting', { mode: 'test' })).toBe(0);
    expect(shown.value('nfse_oldest_waiting_seconds', { mode: 'test', work: 'issue' })).toBe(0);
    for (const projection of ['invoices', 'deadlines', 'companies', 'credentials']) {
      expect(shown.value('nfse_projection_lag_seconds', { projection })).toBe(0);
      expect(shown.value('nfse_projection_halted', { projection })).toBe(0);
    }
    const certificates = shown.samples.filter(({ name }) => name === 'nfse_certificate_remaining_seconds');
    expect(certificates.map(({ labels }) => labels)).toEqual([{}]);
    expect(
      shown.samples
        .filter(({ name }) => name === 'nfse_certificates_ending')
        .map(({ labels, value }) => [labels.within, value]),
    ).toEqual([
      ['over', 0],
      ['30d', 0],
      ['15d', 0],
      ['7d', 0],
      ['1d', 0],
    ]);
    expect(certificates[0]?.value).toBeGreaterThan(86_400);
    // No label contains a company, or any other value with as many digits as a CNPJ or a CPF.
    expect(
      shown.samples.flatMap(({ labels }) => Object.values(labels)).filter((value) => /\d{11}/.test(value)),
    ).toEqual([]);
    expect(shown.value('nfse_mode_simulated', { mode: 'live' })).toBe(1);
    expect(shown.value('nfse_ready')).toBe(1);
    const roles = shown.samples.filter(({ name }) => name === 'nfse_role');
    expect(roles.map(({ labels, value }) => [labels.role, value])).toEqual(allRoles.map((role) => [role, 1]));
    for (const kind of ['indeterminate', 'cancellation_unconfirmed', 'cancellation_refused']) {
      expect(shown.value('nfse_unsettled', { mode: 'live', kind })).toBe(0);
      expect(shown.value('nfse_unsettled_oldest_seconds', { mode: 'live', kind })).toBe(0);
    }
    expect(shown.value('nfse_series_stopped', { mode: 'live' })).toBe(0);
    expect(shown.value('nfse_companies_without_certificate')).toBe(0);
    expect(shown.value('nfse_api_off')).toBe(0);
    expect(Math.abs(shown.value('nfse_clock_offset_seconds') ?? Number.NaN)).toBeLessThan(5);
    expect(shown.value('nfse_anchor_age_seconds', { place: 'log' })).toBeGreaterThanOrEqual(0);
    for (const source of [
      'readiness',
      'projections',
      'queue',
      'open_work',
      'unsettled',
      'series',
      'alarms',
      'certificates',
      'api_switch',
      'anchors',
      'clock',
    ]) {
      expect([source, shown.value('nfse_source_ok', { source })]).toEqual([source, 1]);
    }
  });

  it('shows the process and what runs in it', () => {
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_heap_size_used_bytes',
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
    ]) {
      expect([name, shown.value(name)]).toEqual([name, expect.any(Number)]);
    }
    expect(shown.types.get('nodejs_gc_duration_seconds')).toBe('histogram');
    expect(shown.value('nfse_build_info', { version: readManifest().version, node: process.version })).toBe(1);
  });

  it('names its metrics as Prometheus wants', () => {
    for (const [name, type] of shown.types) {
      expect(name).toMatch(/^(?:nfse|nodejs|process)_[a-z0-9_]+$/);
      if (!name.startsWith('nfse_')) continue;
      expect(shown.helps).toContain(name);
      expect(name).not.toMatch(/_(?:ms|milliseconds|minutes|days|count|sum|bucket)$/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    }
  });

  it.each([
    ...readRules().map(({ alert, expr }) => ({ where: `the alert ${alert}`, expr })),
    ...readDashboard().map(({ title, expr }) => ({ where: `the panel ${title}`, expr })),
  ])('has every series that $where asks for', ({ expr }) => {
    const { metrics, matchers, grouping } = readPromql(expr);
    // Of the two others, one is Prometheus's own and one is the node_exporter's.
    const known = metrics.filter((name) => name !== 'up' && !name.startsWith('node_'));
    if (known.length === 0) return;
    const labelsOf = (metric: string) =>
      shown.samples.filter(({ name }) => name === metric).flatMap(({ labels }) => Object.keys(labels));
    for (const metric of known) expect([metric, shown.value(metric)]).toEqual([metric, expect.any(Number)]);
    for (const { metric, label, operator, value } of matchers.filter(
      ({ metric, label }) => !LABELS_OF_THE_SCRAPE.includes(label) && known.includes(metric),
    )) {
      expect(labelsOf(metric)).toContain(label);
      if (operator === '=') expect([metric, value, shown.value(metric, { [label]: value })]).not.toContain(undefined);
    }
    for (const label of grouping.filter((label) => !LABELS_OF_THE_SCRAPE.includes(label))) {
      expect(known.flatMap(labelsOf)).toContain(label);
    }
  });
});
