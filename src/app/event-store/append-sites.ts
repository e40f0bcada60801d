/**
 * Every append site of the service. A process may die just before or just after each; the crash tests are generated from this list and fail for a
 * site without a scenario (docs/development.md#crash-tests).
 */
export const appendSites = [
  'accept_invoice',
  'request_cancellation',
  'allocate_number',
  'block_series',
  'record_issue_attempt',
  'record_issue_outcome',
  'record_issue_lookup',
  'conclude_issue',
  'record_cancel_attempt',
  'record_cancel_outcome',
  'record_cancel_lookup',
  'conclude_cancellation',
  'delete_test_invoice',
  'operate_company',
  'operate_reference_data',
  'import_invoice',
  'audit_certificate',
  'record_reveal',
  'record_support_act',
  'record_anchor',
  'settle_invoice',
  'reconcile_numbers',
  'reconcile_note',
  'record_reconciliation',
] as const;

export type AppendSite = (typeof appendSites)[number];

/** Every call that may change something at the authorizer. */
export const sendSites = ['sendDps', 'sendCancellation'] as const;

export type SendSite = (typeof sendSites)[number];
