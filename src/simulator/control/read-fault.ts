import * as v from 'valibot';
import { DAY_MS } from '../../domain/common/time.js';
import { FAULT_KINDS, FAULT_TARGETS, type Fault, type FaultKind } from '../state/faults.js';
import { BadInput, CNPJ, flag, MODE, members, oneOf, read, textLike, whole } from './input.js';

const FAULT = members({
  on: oneOf(FAULT_TARGETS),
  kind: oneOf(FAULT_KINDS),
  times: v.optional(whole(1, 1_000_000), 1),
  match: v.optional(
    members({
      cnpj: v.exactOptional(CNPJ),
      amount_in_cents: v.exactOptional(whole(0, Number.MAX_SAFE_INTEGER)),
      environment: v.exactOptional(MODE),
    }),
    {},
  ),
  delay_ms: v.optional(whole(0, DAY_MS), 1000),
  commit: v.exactOptional(flag),
  code: v.exactOptional(
    textLike(/^(?:[A-Z]{1,4}[0-9]{1,5}|[0-9]{1,14})$/, 'an error code such as E0316, or up to 14 digits'),
  ),
  message: v.exactOptional(textLike(/^.{1,500}$/s, 'a text of 1 to 500 characters')),
});

/** Kinds whose name says whether the call commits; a request may repeat that in `commit` but not contradict it. */
const COMMITS: Partial<Record<FaultKind, boolean>> = {
  late_commit: true,
  stale: true,
  lost_after_commit: true,
  casing: true,
  lost_before_commit: false,
  reject: false,
};

/** Reads the body of `POST /_control/faults`. Throws `BadInput`. */
export const readFault = (body: unknown): Fault => {
  const fault = read(FAULT, body);
  const { kind, code, commit } = fault;
  if (kind === 'reject' && code === undefined) throw new BadInput('code', 'is required for reject');
  if (commit !== undefined && commit !== (COMMITS[kind] ?? commit))
    throw new BadInput('commit', `cannot be so for ${kind}`);
  return fault;
};
