import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { appendSites, sendSites } from '../../src/app/event-store/append-sites.js';
import { killPointsOfAppend, killPointsOfSend } from './kill-point.js';
import { appendScenarios, type Scenario, sendScenarios } from './scenarios.js';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/**
 * Below the event store (adapters, ports), the store itself, the simulator, whose ledger is another log, and the meters and
 * traces, which pass on each call that they count or make a span of.
 */
const NOT_OURS = ['adapters/', 'ports/', 'simulator/', 'app/event-store/', 'runtime/metrics/', 'runtime/tracing/'];

/** Binds the authorizer of both modes to one; every call through it is one of the call sites found elsewhere. */
const BINDING = 'runtime/engines/authorizers.ts';

/** Passes on each call of an authorizer, with a watch, a measure or a span around it. */
const AROUND = 'app/issuing/around-authorizer.ts';

type Source = { file: string; text: string };

const sources: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ file: relative(SRC, join(SRC, name)), text: readFileSync(join(SRC, name), 'utf8') }))
  .filter(({ file }) => !NOT_OURS.some((prefix) => file.startsWith(prefix)));

const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

const countPerFile = (pattern: RegExp): Record<string, number> =>
  Object.fromEntries(
    sources
      .map(({ file, text }) => [file, count(text, pattern)] as const)
      .filter(([, found]) => found > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/** Every `.append(` beside `transact`, which appends for all others (test/architecture/rules.ts says why). */
const APPENDS = {
  'app/issuing/protocol.ts': 1,
};

/** Where each site is named: once per place that appends under it, and once in its definition for a site of the send protocol. */
const NAMED = {
  accept_invoice: { 'app/accept/reserve.ts': 1 },
  request_cancellation: { 'app/cancel/cancel-invoice.ts': 1 },
  allocate_number: { 'app/issuing/allocate-number.ts': 1 },
  block_series: { 'app/issuing/allocate-number.ts': 1 },
  record_issue_attempt: { 'app/issuing/note.ts': 1 },
  record_issue_outcome: { 'app/issuing/note.ts': 1 },
  record_issue_lookup: { 'app/issuing/note.ts': 1 },
  conclude_issue: { 'app/issuing/note.ts': 1 },
  record_cancel_attempt: { 'app/issuing/cancellation.ts': 1 },
  record_cancel_outcome: { 'app/issuing/cancellation.ts': 1 },
  record_cancel_lookup: { 'app/issuing/cancellation.ts': 1 },
  conclude_cancellation: { 'app/issuing/cancellation.ts': 1 },
  delete_test_invoice: { 'app/retention/test-retention.ts': 1 },
  // The company, and its DPS numbers; and a company that a log recovery holds.
  operate_company: { 'app/operator/company/company-commands.ts': 2, 'app/recovery/hold-companies.ts': 1 },
  operate_reference_data: { 'app/operator/reference-data/commands.ts': 1 },
  import_invoice: { 'app/operator/import/accepted-invoice.ts': 1, 'app/operator/import/reservations.ts': 1 },
  audit_certificate: { 'app/issuing/open-certificate.ts': 1 },
  record_reveal: { 'app/audit/audit-trail.ts': 1 },
  // An operation of support, and a sign-in or sign-out of the console, which change nothing else.
  record_support_act: { 'app/audit/audit-trail.ts': 1 },
  record_anchor: { 'app/audit/anchor-log.ts': 1 },
  settle_invoice: { 'app/operator/settlement/settle-invoice.ts': 1 },
  reconcile_numbers: { 'app/recovery/recover-log.ts': 1 },
  reconcile_note: { 'app/recovery/adopt-note.ts': 1 },
  // A difference; and an event by which another party canceled the note.
  record_reconciliation: { 'app/reconciliation/compare-invoice.ts': 2 },
} as const satisfies Record<(typeof appendSites)[number], Record<string, number>>;

/** Every place that appends under a site of a definition. */
const IN_PROTOCOL = {
  attempt: { 'app/issuing/protocol.ts': 1 },
  // The answer or a deadline too near to send at all; and a document that cannot be written, or that our own check refuses.
  outcome: { 'app/issuing/note.ts': 1, 'app/issuing/protocol.ts': 1, 'app/issuing/record-result.ts': 1 },
  // Found, proven absent; and found as another party's, a note or an event.
  lookup: { 'app/issuing/cancellation.ts': 1, 'app/issuing/note.ts': 1, 'app/issuing/record-look-up.ts': 2 },
  conclude: { 'app/issuing/protocol.ts': 1 },
};

const SENDS = {
  sendDps: { 'app/issuing/note.ts': 1 },
  sendCancellation: { 'app/issuing/cancellation.ts': 1 },
} as const satisfies Record<(typeof sendSites)[number], Record<string, number>>;

describe('the crash points', () => {
  it('know every append of the product', () => {
    expect(countPerFile(/\.append\(/g)).toEqual(APPENDS);
  });

  it('know of no append beside the event store, which makes every append name its site', () => {
    const beside = sources.filter(({ text }) => /\b(?:log|eventLog)\s*\??\.append\b/.test(text));
    expect(beside.map(({ file }) => file)).toEqual([]);
  });

  it.each(appendSites)('know every place of %s', (site) => {
    expect(countPerFile(new RegExp(`'${site}'`, 'g'))).toEqual(NAMED[site]);
  });

  it.each(Object.entries(IN_PROTOCOL))('know every place of the send protocol that records: %s', (site, places) => {
    expect(countPerFile(new RegExp(`\\bsites\\.${site}\\b`, 'g'))).toEqual(places);
  });

  it.each(sendSites)('know every call of %s', (site) => {
    const { [BINDING]: _binding, [AROUND]: _around, ...calls } = countPerFile(new RegExp(`\\.${site}\\(`, 'g'));
    expect(calls).toEqual(SENDS[site]);
  });

  it('know every method by which something may come to stand at the authorizer', () => {
    const port = readFileSync(join(SRC, 'ports/authorizer.ts'), 'utf8');
    expect([...port.matchAll(/^ {2}(\w+)\([^;]*SendResult</gm)].map(([, method]) => method)).toEqual([...sendSites]);
    expect(countPerFile(/\.send[A-Z]\w*\(/g)).toEqual({
      ...SENDS.sendDps,
      ...SENDS.sendCancellation,
      [BINDING]: 2,
      [AROUND]: 2,
    });
  });

  it('are all died at in every run, before and after, and while a request is under way', () => {
    for (const site of appendSites) expectSides(appendScenarios[site], killPointsOfAppend(site));
    for (const site of sendSites) expectSides(sendScenarios[site], killPointsOfSend(site));
  });
});

/** The thorough scenarios do not count: they are not in every run. */
const expectSides = (scenarios: readonly Scenario[], points: readonly string[]): void => {
  const usual = scenarios.filter(({ thorough }) => thorough === undefined);
  for (const point of points) {
    const leading = usual.filter(({ only }) => only === undefined || point.startsWith(only));
    expect(leading.length, point).toBeGreaterThan(0);
  }
};
