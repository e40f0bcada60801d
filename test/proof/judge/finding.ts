/** What the judge can find. Each name is a promise of docs/proof.md that was broken. */
export const FAULT_NAMES = [
  'second_note',
  'note_without_request',
  'note_without_attempt',
  'double_send',
  'send_before_record',
  'verdict_without_look_up',
  'lost_invoice',
  'lost_event',
  'reused_number',
  'wrong_outcome',
  'cancel_without_event',
  'status_backwards',
  'answer_changed',
  'key_forgotten',
  'reference_taken_twice',
  'other_request_answered',
  'foreign_invoice_shown',
  'altered_document',
  'invalid_document',
  'projection_drift',
  'replay_differs',
  'sealed_field_in_clear',
  'nothing_accepted',
  'nothing_issued',
  'trouble',
] as const;

export type FaultName = (typeof FAULT_NAMES)[number];

/** `evidence`: where in the raw data it can be seen. */
export type Finding = { name: FaultName; detail: string; evidence: string };
