import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readRules } from '../../support/alert-rules.js';
import { itWith } from '../../support/needs.js';
import { firing, type Played, resultAt } from '../../support/promql-play.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const DAY = 1_440;
const GIB = 2 ** 30;
/** promtool is slow with longer ones. */
const SHORT_MINUTES = 240;

type Values = (minute: number) => number | undefined;

const series = (name: string, labels: Record<string, string>, values: Values, minutes = DAY): Played => ({
  name,
  labels,
  values: Array.from({ length: minutes + 1 }, (_, minute) => values(minute)),
});

/** A counter that grows by one every so many minutes. */
const every =
  (minutes: number, from = 0): ((minute: number) => number) =>
  (minute) =>
    Math.max(0, Math.floor((minute - from) / minutes));

/** One process, and how often it counts outcomes of the mode. */
const outcomes = (mode: string, issued: Values, failed: Values): readonly Played[] => [
  series('nfse_invoice_outcomes_total', { mode, outcome: 'issued', event: 'Authorized' }, issued),
  series('nfse_invoice_outcomes_total', { mode, outcome: 'failed', event: 'IssuanceRejected' }, failed),
];
const waiting = (mode: string, processing: number): readonly Played[] => [
  series('nfse_invoices_waiting', { mode, state: 'queued' }, () => 0),
  series('nfse_invoices_waiting', { mode, state: 'processing' }, () => processing),
];
const roles = (missing: readonly string[]): readonly Played[] =>
  ['api', 'projector', 'relay', 'issuer', 'sweeper'].map((role) =>
    series('nfse_role', { role, instance: role }, (minute) => (missing.includes(role) && minute > 60 ? undefined : 1)),
  );
const disk = (free: Values): readonly Played[] => [
  series('node_filesystem_avail_bytes', { instance: 'a', mountpoint: '/var', fstype: 'ext4' }, free),
  series('node_filesystem_size_bytes', { instance: 'a', mountpoint: '/var', fstype: 'ext4' }, () => 100 * GIB),
];

/** A service of few invoices: one every so many minutes, of which each ended otherwise from noon on. */
const fewFromNoon = (minutes: number, event: string, outcome = 'failed'): readonly Played[] => [
  series('nfse_invoice_outcomes_total', { mode: 'live', outcome: 'issued', event: 'Authorized' }, (minute) =>
    Math.floor(Math.min(minute, 720) / minutes),
  ),
  series('nfse_invoice_outcomes_total', { mode: 'live', outcome, event }, every(minutes, 720)),
];
/** The first argument is what the gauge shows; nothing between the two minutes. */
const away =
  (values: Values, from: number, to: number): Values =>
  (minute) =>
    minute >= from && minute < to ? undefined : values(minute);
const requests = (good: Values, bad: Values): readonly Played[] => [
  series('nfse_http_requests_total', { status: '200' }, good),
  series('nfse_http_requests_total', { status: '503' }, bad),
];
const ending = (within: string, values: Values): Played => series('nfse_certificates_ending', { within }, values);

type Scene = { alert: string; what: string; played: readonly Played[]; at: number; fires: readonly string[] };

const never: Values = () => 0;
const always =
  (value: number): Values =>
  () =>
    value;

const scenes: readonly Scene[] = [
  {
    alert: 'NfseInvoicesFailed',
    what: 'every live invoice is refused from noon on',
    at: 730,
    played: outcomes('live', (minute) => Math.min(minute, 720), every(1, 720)),
    fires: [],
  },
  {
    alert: 'NfseInvoicesFailed',
    what: 'the same, a quarter of an hour later',
    at: 745,
    played: outcomes('live', (minute) => Math.min(minute, 720), every(1, 720)),
    fires: ['critical'],
  },
  {
    alert: 'NfseInvoicesFailed',
    what: 'one of three is refused',
    at: DAY,
    played: outcomes('live', every(1), every(2)),
    fires: [],
  },
  {
    alert: 'NfseInvoicesFailed',
    what: 'the four invoices of a quiet day are refused',
    at: DAY,
    played: outcomes('live', never, every(300)),
    fires: ['critical'],
  },
  {
    alert: 'NfseInvoicesFailed',
    what: 'a quiet day has refusals and an issued invoice',
    at: DAY,
    played: outcomes('live', every(900), every(300)),
    fires: [],
  },
  ...[2, 4, 8].map((anHour) => ({
    alert: 'NfseInvoicesFailed',
    what: `all of ${anHour} invoices an hour are refused for three hours`,
    at: 720 + 185,
    played: fewFromNoon(60 / anHour, 'IssuanceRejected'),
    fires: ['critical'],
  })),
  {
    alert: 'NfseInvoicesFailed',
    what: 'three invoices are refused on the evening of a day on which others were issued',
    at: 1_300,
    played: outcomes(
      'live',
      (minute) => Math.min(9, Math.floor(minute / 100)),
      (minute) => (minute < 1_200 ? 0 : 3),
    ),
    fires: [],
  },
  {
    alert: 'NfseInvoicesFailed',
    what: 'somebody tries refusals in test mode',
    at: DAY,
    played: outcomes('test', never, every(1)),
    fires: [],
  },
  {
    alert: 'NfseNothingIssued',
    what: 'one live invoice is in look-up',
    at: 120,
    played: [...waiting('live', 1), ...outcomes('live', never, never)],
    fires: [],
  },
  {
    alert: 'NfseNothingIssued',
    what: 'three live invoices wait',
    at: 120,
    played: [...waiting('live', 3), ...outcomes('live', never, never)],
    fires: ['critical'],
  },
  {
    alert: 'NfseNothingIssued',
    what: 'many wait and others are issued',
    at: 120,
    played: [...waiting('live', 30), ...outcomes('live', every(5), never)],
    fires: [],
  },
  {
    alert: 'NfseNothingIssued',
    what: 'three test invoices wait',
    at: 120,
    played: [...waiting('test', 3), ...outcomes('test', never, never)],
    fires: ['warning'],
  },
  ...[1, 2, 4, 6, 8].flatMap((anHour) =>
    ['NotProcessed', 'IssuanceFailed', 'IssuanceInterrupted'].map((event) => ({
      alert: 'NfseNothingIssued',
      what: `time has ended each of ${anHour} invoices an hour for three hours (${event})`,
      at: 720 + 190,
      played: fewFromNoon(60 / anHour, event, event === 'IssuanceInterrupted' ? 'indeterminate' : 'failed'),
      fires: ['critical'],
    })),
  ),
  ...[
    { what: 'the name of their customer is missing', reason: 'customer_name_missing', fires: [] },
    { what: 'our own check refuses each document', reason: 'document_invalid', fires: ['critical'] },
  ].map(({ what, reason, fires }) => ({
    alert: 'NfseNothingIssued',
    what: `no document could be written for twenty invoices of a quiet night, because ${what}`,
    at: 720 + 190,
    played: fewFromNoon(10, 'IssuanceFailed').map((one) =>
      one.labels.outcome === 'failed' ? { ...one, labels: { ...one.labels, reason } } : one,
    ),
    fires,
  })),
  ...[
    { what: 'one invoice a day was issued in the morning', event: 'NotProcessed', ended: 0, fires: [] },
    { what: 'time ended one invoice in a quiet night', event: 'NotProcessed', ended: 1, fires: [] },
    { what: 'twenty were refused in a quiet night', event: 'IssuanceRejected', ended: 20, fires: [] },
  ].map(({ what, event, ended, fires }) => ({
    alert: 'NfseNothingIssued',
    what,
    at: 1_430,
    played: [
      series('nfse_invoice_outcomes_total', { mode: 'live', outcome: 'issued', event: 'Authorized' }, (minute) =>
        Number(minute > 540),
      ),
      series('nfse_invoice_outcomes_total', { mode: 'live', outcome: 'failed', event }, (minute) =>
        minute < 1_400 ? 0 : ended,
      ),
    ],
    fires,
  })),
  {
    alert: 'NfseNothingIssued',
    what: 'time ended the invoice of today and that of yesterday',
    at: 3_300,
    played: [
      series(
        'nfse_invoice_outcomes_total',
        { mode: 'live', outcome: 'issued', event: 'Authorized' },
        (minute) => Number(minute > 200),
        3_300,
      ),
      series(
        'nfse_invoice_outcomes_total',
        { mode: 'live', outcome: 'failed', event: 'NotProcessed' },
        (minute) => Math.floor(minute / 1_640),
        3_300,
      ),
    ],
    fires: ['critical'],
  },
  {
    alert: 'NfseNothingIssued',
    what: 'production issues nothing and staging does',
    at: 120,
    played: [
      ...[...waiting('live', 3), ...outcomes('live', never, never)].map((one) => ({
        ...one,
        labels: { ...one.labels, installation: 'production' },
      })),
      ...outcomes('live', every(1), never).map((one) => ({
        ...one,
        labels: { ...one.labels, installation: 'staging' },
      })),
    ],
    fires: ['critical'],
  },
  {
    alert: 'NfseNotReady',
    what: 'a projection lags, and no request is refused',
    at: 60,
    played: [
      series('nfse_ready', { instance: 'a' }, never),
      series('nfse_check_ok', { instance: 'a', check: 'projections' }, never),
      series('nfse_check_ok', { instance: 'a', check: 'database' }, always(1)),
    ],
    fires: [],
  },
  {
    alert: 'NfseNotReady',
    what: 'the database is away, of two processes',
    at: 60,
    played: ['a', 'b'].flatMap((instance) => [
      series('nfse_ready', { instance }, never),
      series('nfse_check_ok', { instance, check: 'projections' }, never),
      series('nfse_check_ok', { instance, check: 'database' }, never),
    ]),
    fires: ['critical', 'critical'],
  },
  {
    alert: 'NfseApiErrors',
    what: 'two of a quiet night are answered 503',
    at: 610,
    played: requests(every(1), (minute) => (minute < 605 ? 0 : minute < 607 ? 1 : 2)),
    fires: [],
  },
  {
    alert: 'NfseApiErrors',
    what: 'a hundred requests a minute, of which two are answered 503',
    at: 610,
    played: requests(
      (minute) => minute * 98,
      (minute) => minute * 2,
    ),
    fires: ['critical'],
  },
  {
    alert: 'NfseApiErrors',
    what: 'one request in ten minutes, all answered 503',
    at: 610,
    played: requests((minute) => Math.min(50, every(10)(minute)), every(10, 500)),
    fires: ['critical'],
  },
  {
    alert: 'NfseApiErrors',
    what: 'the same, half an hour after the cure',
    at: 650,
    played: requests(every(10), (minute) => Math.min(10, every(10, 500)(minute))),
    fires: [],
  },
  {
    alert: 'NfseUnknownOutcomes',
    what: 'five, which a process may end by a pause of sends',
    at: 107,
    played: [
      series('nfse_unknown_outcomes_total', { mode: 'live', work: 'issue' }, (minute) =>
        Math.max(0, Math.min(5, minute - 95)),
      ),
    ],
    fires: [],
  },
  ...['live', 'test'].map((mode) => ({
    alert: 'NfseIndeterminate',
    what: `a ${mode} invoice is indeterminate`,
    at: 10,
    played: [series('nfse_unsettled', { mode, kind: 'indeterminate' }, always(1))],
    fires: [mode === 'live' ? 'critical' : 'warning'],
  })),
  ...['live', 'test'].map((mode) => ({
    alert: 'NfseNumberConflict',
    what: `a ${mode} series is stopped`,
    at: 10,

    played: [series('nfse_series_stopped', { mode }, always(1))],
    fires: [mode === 'live' ? 'critical' : 'warning'],
  })),
  ...['live', 'test'].map((mode) => ({
    alert: 'NfseCertificateRefused',
    what: `a certificate is refused in ${mode} mode`,
    at: 10,
    played: [series('nfse_certificate_refused', { mode, company: '12345678000195' }, always(1))],
    fires: [mode === 'live' ? 'critical' : 'warning'],
  })),
  ...['live', 'test'].map((mode) => ({
    alert: 'NfseReconciliationDifference',
    what: `differences are in ${mode} mode alone`,
    at: 10,
    played: ['live', 'test'].flatMap((each) => [
      series('nfse_recent_alarms', { notice: 'reconciliation_difference', mode: each }, always(each === mode ? 1 : 0)),
      series('nfse_alarms_seen', { notice: 'reconciliation_difference', mode: each }, always(3)),
    ]),
    fires: [mode === 'live' ? 'critical' : 'warning'],
  })),
  ...[
    { what: 'sends are paused, and a probe is under way at each second scrape', open: (minute: number) => minute % 2 },
    {
      what: 'a look-up was answered six minutes ago, and nothing is sent',
      open: (minute: number) => Number(minute < 4),
    },
  ].map(({ what, open }, nth) => ({
    alert: 'NfseAuthorizerPaused',
    what,
    at: 10,
    fires: nth === 0 ? ['warning'] : [],
    played: [
      series('nfse_authorizer_circuit', { mode: 'live', resource: 'notes', state: 'open' }, open),
      series('nfse_authorizer_circuit', { mode: 'live', resource: 'notes', state: 'half_open' }, (at) => 1 - open(at)),
      series('nfse_authorizer_circuit', { mode: 'live', resource: 'events', state: 'closed' }, always(1)),
    ],
  })),
  ...[
    { alert: 'NfseCertificate1Day', gauge: 'nfse_certificates_ending', labels: { within: '1d' } },
    { alert: 'NfseCertificate7Days', gauge: 'nfse_certificates_ending', labels: { within: '7d' } },
    { alert: 'NfseCertificateUnusable', gauge: 'nfse_companies_without_certificate', labels: {} },
    { alert: 'NfseIndeterminate', gauge: 'nfse_unsettled', labels: { mode: 'live', kind: 'indeterminate' } },
    { alert: 'NfseNumberConflict', gauge: 'nfse_series_stopped', labels: { mode: 'live' } },
    { alert: 'NfseCertificateRefused', gauge: 'nfse_certificate_refused', labels: { mode: 'live', company: '1' } },
  ].flatMap(({ alert, gauge, labels }) => [
    {
      alert,
      what: 'the engines have been away for 20 minutes',
      at: 120,
      played: [series(gauge, labels, away(always(1), 100, 130))],
      fires: ['critical'],
    },
    { alert, what: 'two hours', at: 220, played: [series(gauge, labels, away(always(1), 100, 300))], fires: [] },
    {
      alert,
      what: 'the cause was cured a minute ago',
      at: 120,
      played: [
        series(gauge, labels, (minute) => {
          if (minute < 119) return 1;
          return gauge === 'nfse_certificate_refused' ? undefined : 0;
        }),
        series('nfse_certificate_refused', { mode: 'live', company: '' }, never),
      ],
      fires: [],
    },
  ]),
  ...[
    { what: 'three minutes', at: 103, fires: [] },
    { what: 'ten minutes', at: 110, fires: ['warning'] },
  ].map(({ what, at, fires }) => ({
    alert: 'NfseParked',
    what: `work has been parked for ${what}, and more comes each minute`,
    at,
    played: [series('nfse_queue_parked', {}, (minute) => Math.max(0, minute - 99))],
    fires,
  })),
  {
    alert: 'NfseApiOff',
    what: 'the API was switched off at noon and no client calls',
    at: 740,
    played: [series('nfse_api_off', {}, (minute) => Number(minute > 720))],
    fires: ['warning'],
  },
  {
    alert: 'NfseApiOff',
    what: 'the API was switched off a minute ago',
    at: 721,
    played: [series('nfse_api_off', {}, (minute) => Number(minute > 720))],
    fires: [],
  },
  ...[
    { what: 'each day is anchored at its beginning', reset: 1_440, fires: [] },
    { what: 'the last anchor is of the day before yesterday', reset: 10_000, fires: ['warning'] },
  ].map(({ what, reset, fires }) => ({
    alert: 'NfseLogNotAnchored',
    what,
    at: 2_250,
    played: [series('nfse_anchor_age_seconds', { place: 'log' }, (minute) => (minute % reset) * 60, 2_250)],
    fires,
  })),
  ...[
    { what: 'one clock is half a minute ahead, another half a minute behind', ahead: 30, behind: -30, fires: [] },
    { what: 'one clock is further ahead', ahead: 31, behind: -30, fires: ['warning'] },
    { what: 'one clock is further ahead, and another behind', ahead: 90, behind: -31, fires: ['warning', 'warning'] },
  ].map(({ what, ahead, behind, fires }) => ({
    alert: 'NfseClockApart',
    what,
    at: 60,
    played: [
      series('nfse_clock_offset_seconds', { instance: 'a' }, always(ahead)),
      series('nfse_clock_offset_seconds', { instance: 'b' }, always(behind)),
    ],
    fires,
  })),
  {
    alert: 'NfseClockApart',
    what: 'a clock was ahead and is set',
    at: 66,
    played: [series('nfse_clock_offset_seconds', { instance: 'a' }, (minute) => (minute < 65 ? 90 : 0))],
    fires: [],
  },
  { alert: 'NfseRoleMissing', what: 'every role runs', played: roles([]), at: 120, fires: [] },
  { alert: 'NfseRoleMissing', what: 'the relay is gone, a minute ago', played: roles(['relay']), at: 61, fires: [] },
  { alert: 'NfseRoleMissing', what: 'the relay is gone', played: roles(['relay']), at: 65, fires: ['critical'] },
  {
    alert: 'NfseRoleMissing',
    what: 'relay and issuer are gone',
    at: 65,
    played: roles(['relay', 'issuer']),
    fires: ['critical', 'critical'],
  },
  {
    alert: 'NfseRoleMissing',
    what: 'production has no issuer and staging has one',
    at: 65,
    played: [
      ...roles(['issuer']).map((one) => ({ ...one, labels: { ...one.labels, installation: 'production' } })),
      ...roles([]).map((one) => ({ ...one, labels: { ...one.labels, installation: 'staging' } })),
    ],
    fires: ['critical'],
  },
  { alert: 'NfseDiskFillsUp', what: 'half is free and stays so', played: disk(always(50 * GIB)), at: 600, fires: [] },
  {
    alert: 'NfseDiskFillsUp',
    what: '35 % is free and 20 GiB a day are written',
    at: 600,
    played: disk((minute) => (35 - (minute * 20) / DAY) * GIB),
    fires: ['warning'],
  },
  { alert: 'NfseDiskAlmostFull', what: '9 % is free', played: disk(always(9 * GIB)), at: 600, fires: ['critical'] },
  { alert: 'NfseDiskAlmostFull', what: '11 % is free', played: disk(always(11 * GIB)), at: 600, fires: [] },
];

const ruleOf = (alert: string) => readRules().filter((rule) => rule.alert === alert);

describe('a rule, played on made-up series', () => {
  it.each(scenes)('$alert, when $what: $fires', ({ alert, played, at, fires }) => {
    expect(ruleOf(alert)).toHaveLength(1);
    expect(firing(ruleOf(alert), played, at).map(({ severity }) => severity)).toEqual(fires);
  });

  it('says which roles are missing', () => {
    const found = firing(ruleOf('NfseRoleMissing'), roles(['relay', 'issuer']), 65);
    expect(found.map(({ labels }) => labels)).toEqual([{ role: 'relay' }, { role: 'issuer' }]);
  });

  it.each([
    ['NfseReconciliationDifference', { notice: 'reconciliation_difference', mode: 'live' }],
    ['NfseDocumentUnreliable', { notice: 'document_altered' }],
  ] as const)(
    '%s has another label after the next finding, so that a silence of the first does not hide it',
    (alert, labels) => {
      const played = [
        series('nfse_recent_alarms', labels, (minute) => (minute < 600 ? 1 : 0)),
        series('nfse_alarms_seen', labels, (minute) => (minute < 300 ? 3 : 4)),
      ];
      const labelsAt = (minute: number) => firing(ruleOf(alert), played, minute).map((fired) => fired.labels);
      expect(labelsAt(100)).toEqual([{ ...labels, seen: '3' }]);
      expect(labelsAt(400)).toEqual([{ ...labels, seen: '4' }]);
      expect(labelsAt(700)).toEqual([]);
    },
  );

  it('counts certificates as a label, so that the second notifies though the first alert is still there', () => {
    const labelsAt = (minute: number) =>
      firing(
        ruleOf('NfseCertificate1Day'),
        [ending('over', always(1)), ending('1d', (at) => (at < 100 ? 0 : 2)), ending('7d', always(9))],
        minute,
      ).map(({ labels }) => labels);
    expect([labelsAt(50), labelsAt(150)]).toEqual([[{ count: '1' }], [{ count: '3' }]]);
  });

  it.each(
    ['NfseCertificate30Days', 'NfseCertificate15Days', 'NfseCertificate7Days', 'NfseIndeterminate'].concat([
      'NfseCancellationUnconfirmed',
      'NfseCancellationRefused',
      'NfseCertificateUnusable',
      'NfseParked',
    ]),
  )('%s has a label that changes with the count, and no time that would begin anew', (alert) => {
    expect(ruleOf(alert)).toMatchObject([{ labels: { count: '{{ printf "%.0f" $value }}' } }]);
    expect(ruleOf(alert)[0]?.for).toBeUndefined();
  });

  const asPromtool = (played: readonly Played[]) =>
    played.map(({ name, labels, values }) => ({
      series: `${name}{${Object.entries(labels).map(([label, value]) => `${label}="${value}"`)}}`,
      values: values.map((value) => value ?? 'stale').join(' '),
    }));
  const promtool = (files: readonly string[]): void => {
    const played = spawnSync('promtool', ['test', 'rules', ...files], { encoding: 'utf8' });
    expect([played.status, played.stderr]).toEqual([0, '']);
  };

  itWith('promtool', 'has as many results as Prometheus finds', async () => {
    const tests = scenes.map(({ alert, played, at }) => {
      const [{ expr = '' } = {}] = ruleOf(alert);
      const found = resultAt(expr, played, at).length;
      const count = { expr: `count(${expr}) or vector(0)`, exp_samples: [{ labels: '{}', value: found }] };
      return {
        interval: '1m',
        input_series: asPromtool(played),
        promql_expr_test: [{ ...count, eval_time: `${at}m` }],
      };
    });
    const file = join(temporaryFolder(), 'scenes.yaml');
    await writeFile(file, stringify({ evaluation_interval: '1m', tests }));
    promtool([file]);
  });

  itWith('promtool', 'fires where Prometheus fires, in scenes of a few hours', async () => {
    const short = scenes.filter(({ at }) => at <= SHORT_MINUTES);
    const folder = temporaryFolder();
    // Each rule alone: promtool evaluates every rule of its files at every minute.
    const files = [...new Set(short.map(({ alert }) => alert))].map(async (alert) => {
      const rules = join(folder, `${alert}-rule.yaml`);
      await writeFile(rules, stringify({ groups: [{ name: alert, rules: ruleOf(alert) }] }));
      const tests = short
        .filter((scene) => scene.alert === alert)
        .map(({ played, at, fires }) => ({
          interval: '1m',
          input_series: asPromtool(played),
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
              eval_time: `${at}m`,
              exp_samples: [{ labels: '{}', value: fires.length }],
            },
          ],
        }));
      const file = join(folder, `${alert}.yaml`);
      await writeFile(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
      return file;
    });
    promtool(await Promise.all(files));
  });
});
