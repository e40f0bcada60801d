import type { AppendSite, SendSite } from '../../src/app/event-store/append-sites.js';
import type { FaultOrder } from '../support/harness/simulator-process.js';

/**
 * What leads a process to a point, and what must be true in the end, wherever it died: `issued`, `canceled` and
 * `not canceled` hold one note, and so does `canceled elsewhere`, without a request of ours; `failed` and `indeterminate` none. `deleted`: the test invoice's life is over.
 */
export type Scenario = {
  title: string;
  /** `conflict`: another party's note has our first number. `operate`: the operator's process dies. `reconcile`: the web portal cancels the note. */
  kind: 'issue' | 'cancel' | 'retention' | 'conflict' | 'operate' | 'reconcile';
  ends: 'issued' | 'failed' | 'indeterminate' | 'canceled' | 'not canceled' | 'canceled elsewhere' | 'deleted';
  /** Without a key the client looks for its reference before it asks again. */
  asks?: 'with a key' | 'with a reference';
  faults?: readonly FaultOrder[];
  /** Variables of every process of the scenario, and of the one that dies only. */
  env?: Readonly<Record<string, string>>;
  firstEnv?: Readonly<Record<string, string>>;
  /** The n-th time that the point is passed, from 1. */
  occurrence?: number;
  /** The outcome depends on the side of the append: only this one is tried. */
  only?: 'before' | 'after';
  /** Left to CRASH_FULL=1. */
  thorough?: true;
};

const issue: Scenario = { title: 'issue', kind: 'issue', ends: 'issued' };
const cancel: Scenario = { title: 'cancel', kind: 'cancel', ends: 'canceled' };

const SHORT = { ALLOW_SHORT_WINDOWS: '1' };
/** On a busy machine a refusal may arrive after the harness's timeout of a second, and then counts as unknown. */
const HEARS_REFUSALS = { AUTHORIZER_TIMEOUT_S: '30' };
const NOBODY_THERE = 'https://127.0.0.1:1/SefinNacional';

const lost = (on: 'issue' | 'event', kind: 'lost_after_commit' | 'lost_before_commit'): FaultOrder => ({ on, kind });
const rejected: FaultOrder = { on: 'issue', kind: 'reject', code: 'E0312' };
const many = { times: 1_000 };

const absent: Scenario = { ...issue, title: 'issue lost on its way', faults: [lost('issue', 'lost_before_commit')] };
const cancelAbsent: Scenario = {
  ...cancel,
  title: 'cancel lost on its way',
  faults: [lost('event', 'lost_before_commit')],
};
const twiceLost = { faults: [{ ...lost('issue', 'lost_before_commit'), times: 2 }] };

/** The compiler demands a scenario for every append site. */
export const appendScenarios = {
  accept_invoice: [
    { ...issue, title: 'issue with a key', asks: 'with a key' },
    { ...issue, title: 'issue with a reference', asks: 'with a reference' },
  ],
  request_cancellation: [cancel],
  allocate_number: [issue],
  block_series: [{ ...issue, title: 'issue over a foreign note', kind: 'conflict' }],
  record_issue_attempt: [
    issue,
    { ...absent, title: 'issue sent again', occurrence: 2, thorough: true },
    { ...issue, ...twiceLost, title: 'issue sent a third time', occurrence: 3, thorough: true },
  ],
  record_issue_outcome: [
    issue,
    { ...issue, title: 'issue refused', faults: [rejected], ends: 'failed', env: HEARS_REFUSALS, only: 'after' },
    // The refusal was lost with its process, so the same bytes are sent again.
    { ...issue, title: 'issue refused', faults: [rejected], only: 'before' },
    { ...absent, occurrence: 2, thorough: true },
    // Its company is held back until a look-up is answered, by whatever process.
    { ...issue, title: 'issue whose certificate is refused', faults: [{ on: 'issue', kind: 'http_403_html' }] },
  ],
  record_issue_lookup: [
    { ...issue, title: 'issue whose answer is lost', faults: [lost('issue', 'lost_after_commit')] },
    absent,
    { ...issue, title: 'issue over a foreign note', kind: 'conflict', thorough: true },
  ],
  conclude_issue: [
    {
      ...issue,
      title: 'issue to an authorizer out of reach',
      ends: 'failed',
      env: { ...SHORT, PROCESSING_TIMEOUT_S: '4' },
      firstEnv: { AUTHORIZER_TEST_URL: NOBODY_THERE },
    },
    {
      ...issue,
      title: 'issue that nobody works on',
      ends: 'failed',
      env: { ...SHORT, QUEUED_TIMEOUT_S: '3' },
      firstEnv: { CRASH_WITHOUT_ROLES: 'issuer' },
    },
    {
      ...issue,
      title: 'issue that is always lost',
      ends: 'indeterminate',
      env: { ...SHORT, PROCESSING_TIMEOUT_S: '6' },
      faults: [
        { ...lost('issue', 'lost_before_commit'), ...many },
        { on: 'lookup', kind: 'http_404_html', ...many },
      ],
      thorough: true,
    },
  ],
  record_cancel_attempt: [cancel, { ...cancelAbsent, title: 'cancel sent again', occurrence: 2, thorough: true }],
  record_cancel_outcome: [
    cancel,
    {
      ...cancel,
      title: 'cancel refused',
      faults: [{ on: 'event', kind: 'reject', code: 'E0822' }],
      ends: 'not canceled',
      env: HEARS_REFUSALS,
      only: 'after',
    },
    { ...cancelAbsent, occurrence: 2, thorough: true },
  ],
  record_cancel_lookup: [
    { ...cancel, title: 'cancel whose answer is lost', faults: [lost('event', 'lost_after_commit')] },
    cancelAbsent,
  ],
  conclude_cancellation: [
    {
      ...cancel,
      title: 'cancel that is always lost',
      ends: 'not canceled',
      env: { ...SHORT, CANCELLATION_TIMEOUT_S: '4' },
      faults: [
        { ...lost('event', 'lost_before_commit'), ...many },
        { on: 'event_lookup', kind: 'http_404_html', ...many },
      ],
    },
  ],
  delete_test_invoice: [
    {
      title: 'the end of a test invoice',
      kind: 'retention',
      ends: 'deleted',
      asks: 'with a reference',
      // Issued and seen before it ends, also where eight processes start at once.
      env: { ...SHORT, TEST_RETENTION_S: '25' },
    },
  ],
  operate_company: [
    { title: 'a moved number, the series first', kind: 'operate', ends: 'issued', occurrence: 1 },
    { title: 'a moved number, then the company', kind: 'operate', ends: 'issued', occurrence: 2 },
  ],
  operate_reference_data: [{ title: 'what a municipality demands', kind: 'operate', ends: 'issued' }],
  import_invoice: [
    { title: 'an imported invoice, its reference first', kind: 'operate', ends: 'issued', occurrence: 1 },
    { title: 'an imported invoice, then itself', kind: 'operate', ends: 'issued', occurrence: 2 },
  ],
  audit_certificate: [issue],
  record_reveal: [{ title: 'a look at personal data', kind: 'operate', ends: 'issued' }],
  record_support_act: [{ title: 'parked work that support has tried again', kind: 'operate', ends: 'issued' }],
  record_anchor: [{ ...issue, title: 'the daily anchor' }],
  settle_invoice: [{ title: 'an indeterminate invoice that support settles', kind: 'operate', ends: 'issued' }],
  reconcile_numbers: [{ title: 'numbers moved past a found note', kind: 'operate', ends: 'issued' }],
  reconcile_note: [{ title: 'a found note given back to its invoice', kind: 'operate', ends: 'issued' }],
  record_reconciliation: [
    {
      title: 'a note',
      kind: 'reconcile',
      ends: 'canceled elsewhere',
      env: {
        RECONCILE_SAMPLE_PERCENT: '100',
        RECONCILE_PACE_S: '1',
        RECONCILE_ROUND_S: '1',
        RECONCILE_SETTLED_S: '1',
      },
    },
  ],
} as const satisfies Record<AppendSite, readonly Scenario[]>;

const SLOW_MS = 3_000;

export const sendScenarios = {
  sendDps: [
    { ...issue, title: 'issue answered slowly', faults: [{ on: 'issue', kind: 'slow', delay_ms: 300 }] },
    { ...absent, title: 'issue sent again', occurrence: 2, thorough: true },
    {
      ...issue,
      title: 'issue that commits after its absence was proven',
      faults: [{ on: 'issue', kind: 'late_commit', delay_ms: 4 * SLOW_MS }],
      thorough: true,
    },
  ],
  sendCancellation: [
    { ...cancel, title: 'cancel answered slowly', faults: [{ on: 'event', kind: 'slow', delay_ms: 300 }] },
    { ...cancelAbsent, title: 'cancel sent again', occurrence: 2, thorough: true },
  ],
} as const satisfies Record<SendSite, readonly Scenario[]>;
