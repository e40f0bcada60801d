import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { appendSites, sendSites } from '../../src/app/sites.js';
import { killPointsOfAppend, killPointsOfSend } from './kill-point.js';
import { appendScenarios, type Scenario, sendScenarios } from './scenarios.js';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/**
 * Below the event store (adapters, ports), the store itself, the simulator, whose ledger is another log, and the meters, which
 * pass on each call that they count.
 */
const NOT_OURS = ['adapters/', 'ports/', 'simulator/', 'app/event-store/', 'runtime/metrics/'];

/** Binds the authorizer of both modes to one; every call through it is one of the call sites found elsewhere. */
const BINDING = 'runtime/authorizers.ts';

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

/**
 * Every `.append(` of the product. One more must be written down here together with its site in `sites.ts`, its
 * scenario, and below the places that use it.
 */
const APPENDS = {
  'app/anchors/anchor-log.ts': 1,
  'app/audit/append-audit.ts': 1,
  'app/cancel/cancel-invoice.ts': 1,
  'app/certificates/open-certificate.ts': 1,
  'app/company/company-commands.ts': 2,
  'app/import/record-import.ts': 1,
  'app/issue/reserve.ts': 1,
  'app/issuer/allocate-number.ts': 1,
  'app/issuer/cancel.ts': 1,
  'app/issuer/record.ts': 1,
  'app/issuer/send-attempt.ts': 1,
  'app/reconcile-log/adopt-note.ts': 1,
  'app/reconcile-log/move-numbers.ts': 1,
  'app/reconciliation/record-differences.ts': 1,
  'app/reference-data/record.ts': 1,
  'app/retention/delete-test-invoice.ts': 1,
  'app/settlement/record-settlement.ts': 1,
};

/** Where each site is named, once per place that appends under it. */
const NAMED = {
  accept_invoice: { 'app/issue/reserve.ts': 1 },
  request_cancellation: { 'app/cancel/cancel-invoice.ts': 1 },
  allocate_number: { 'app/issuer/allocate-number.ts': 1 },
  block_series: { 'app/issuer/allocate-number.ts': 1 },
  record_issue_attempt: { 'app/issuer/send-attempt.ts': 1 },
  // The answer, a deadline too near to send at all, and a document that cannot be written.
  record_issue_outcome: { 'app/issuer/send-attempt.ts': 3 },
  // Found, found in other hands, proven absent.
  record_issue_lookup: { 'app/issuer/issue.ts': 3 },
  conclude_issue: { 'app/issuer/issue.ts': 1 },
  record_cancel_attempt: { 'app/issuer/cancel.ts': 1 },
  record_cancel_outcome: { 'app/issuer/record-cancel-answer.ts': 1 },
  // Found, proven absent.
  record_cancel_lookup: { 'app/issuer/cancel.ts': 2 },
  conclude_cancellation: { 'app/issuer/cancel.ts': 1 },
  delete_test_invoice: { 'app/retention/delete-test-invoice.ts': 1 },
  operate_company: { 'app/company/company-commands.ts': 1 },
  operate_reference_data: { 'app/reference-data/record.ts': 1 },
  import_invoice: { 'app/import/record-import.ts': 1 },
  audit_certificate: { 'app/certificates/open-certificate.ts': 1 },
  record_reveal: { 'app/audit/reveal.ts': 1 },
  // An act on the machinery, and a way into the console or out of it, which touches nothing else.
  record_support_act: { 'app/audit/console-access.ts': 1, 'app/audit/support-act.ts': 1 },
  record_anchor: { 'app/anchors/anchor-log.ts': 1 },
  settle_invoice: { 'app/settlement/record-settlement.ts': 1 },
  reconcile_numbers: { 'app/reconcile-log/move-numbers.ts': 1 },
  reconcile_note: { 'app/reconcile-log/adopt-note.ts': 1 },
  record_reconciliation: { 'app/reconciliation/record-differences.ts': 1 },
} as const satisfies Record<(typeof appendSites)[number], Record<string, number>>;

const SENDS = {
  sendDps: { 'app/issuer/send-attempt.ts': 1 },
  sendCancellation: { 'app/issuer/cancel.ts': 1 },
} as const satisfies Record<(typeof sendSites)[number], Record<string, number>>;

describe('the crash points', () => {
  it('know every append of the product', () => {
    expect(countPerFile(/\.append\(/g)).toEqual(APPENDS);
  });

  it('know of no append beside the event store, which makes every append name its site', () => {
    const beside = sources.filter(({ text }) => /\b(?:log|eventLog)\s*\??\.append\b/.test(text));
    expect(beside.map(({ file }) => file)).toEqual([]);
    for (const file of Object.keys(APPENDS)) {
      const text = sources.find((source) => source.file === file)?.text ?? '';
      expect(text, file).toMatch(/workerContext\(|site: '|\bsite: AppendSite/);
    }
  });

  it.each(appendSites)('know every place of %s', (site) => {
    const { 'app/sites.ts': listed, ...named } = countPerFile(new RegExp(`'${site}'`, 'g'));
    expect(listed).toBe(1);
    expect(named).toEqual(NAMED[site]);
  });

  it.each(sendSites)('know every call of %s', (site) => {
    const { [BINDING]: _binding, ...calls } = countPerFile(new RegExp(`\\.${site}\\(`, 'g'));
    expect(calls).toEqual(SENDS[site]);
  });

  it('know every method by which something may come to stand at the authorizer', () => {
    const port = readFileSync(join(SRC, 'ports/authorizer.ts'), 'utf8');
    expect([...port.matchAll(/^ {2}(\w+)\([^;]*SendResult</gm)].map(([, method]) => method)).toEqual([...sendSites]);
    expect(countPerFile(/\.send[A-Z]\w*\(/g)).toEqual({
      ...SENDS.sendDps,
      ...SENDS.sendCancellation,
      [BINDING]: 2,
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
