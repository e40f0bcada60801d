/** `unjudged`: the walk does not have the whole stream, or has found a fault in it; nothing more is said of it. */
export const BORN = { no: 0, accepted: 1, imported: 2, reference: 3, deleted: 4, unjudged: 5 } as const;
export const OUTCOME = { open: 0, issued: 1, failed: 2, indeterminate: 3 } as const;
export const SEND = { none: 0, open: 1, notSent: 2, unknown: 3, absent: 4, foreign: 5 } as const;
export const CANCEL = { none: 0, pending: 1, succeeded: 2, failed: 3 } as const;

/**
 * What an auditor must remember of an invoice to judge its next event: numbers only, so that millions fit. It is no second
 * `evolve`: it knows what may follow what, from the events alone (design section 6 and invariants 1, 2 and 5).
 */
export type InvoiceLife = {
  born: number;
  outcome: number;
  /** The last attempt: number, what became of it, a mark of its DPS id, and its instants in ms. */
  attempt: number;
  send: number;
  mark: number;
  attemptedAt: number;
  deadlineAt: number;
  /** Attempts whose bytes left or may have left. */
  left: number;
  /** 1 when the authorizer said that the DPS of the last attempt exists (E0014). */
  exists: number;
  request: number;
  cancel: number;
  cancelAttempt: number;
  cancelSend: number;
  cancelDeadlineAt: number;
};

export const LIFE_KEYS = [
  ...(['born', 'outcome', 'attempt', 'send', 'mark', 'attemptedAt', 'deadlineAt', 'left', 'exists'] as const),
  ...(['request', 'cancel', 'cancelAttempt', 'cancelSend', 'cancelDeadlineAt'] as const),
] as const satisfies readonly (keyof InvoiceLife)[];

/** FNV-1a, 32 bits: tells the same text from another one, which is no secret and no proof. */
export const markOf = (text: string): number => {
  let mark = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    mark = Math.imul(mark ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return mark;
};
