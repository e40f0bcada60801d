import type { Mode } from '../../domain/shared/ids.js';
import { FAULT_KINDS, FAULT_TARGETS, type Fault, type FaultKind } from '../state/faults.js';
import { BadInput, flag, members, oneOf, textLike, whole } from './input.js';

export const MODES: readonly Mode[] = ['test', 'live'];

export const CNPJ = textLike(/^[0-9A-Z]{12}[0-9]{2}$/, 'a CNPJ of 14 characters');

const ONE_DAY_MS = 86_400_000;

const USUAL_DELAY_MS = 1000;

/** Kinds whose name says whether the call commits; a request may repeat that in `commit` but not contradict it. */
const COMMITS: Partial<Record<FaultKind, boolean>> = {
  late_commit: true,
  stale: true,
  lost_after_commit: true,
  casing: true,
  lost_before_commit: false,
  reject: false,
};

/** Reads the body of `POST /_control/faults`; the defaults are `times` 1 and `delay_ms` 1000. Throws `BadInput`. */
export const readFault = (body: unknown): Fault => {
  const fields = members(body);
  const on = fields.required('on', oneOf(FAULT_TARGETS));
  const kind = fields.required('kind', oneOf(FAULT_KINDS));
  const times = fields.optional('times', whole(1, 1_000_000)) ?? 1;
  const match = fields.optional('match', readMatch) ?? {};
  const delayMs = fields.optional('delay_ms', whole(0, ONE_DAY_MS)) ?? USUAL_DELAY_MS;
  const commit = fields.optional('commit', flag);
  const code = fields.optional('code', textLike(/^[A-Z]{1,4}[0-9]{1,5}$/, 'an error code such as E0316'));
  const message = fields.optional('message', textLike(/^.{1,500}$/s, 'a text of 1 to 500 characters'));
  fields.done();
  if (kind === 'reject' && code === undefined) throw new BadInput('code', 'is required for reject');
  if (commit !== undefined && commit !== (COMMITS[kind] ?? commit))
    throw new BadInput('commit', `cannot be so for ${kind}`);
  return {
    on,
    kind,
    times,
    match,
    delayMs,
    ...(commit !== undefined && { commit }),
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message }),
  };
};

const readMatch = (value: unknown, field: string): Fault['match'] => {
  const fields = members(value, field);
  const cnpj = fields.optional('cnpj', CNPJ);
  const amountInCents = fields.optional('amount_in_cents', whole(0, Number.MAX_SAFE_INTEGER));
  const environment = fields.optional('environment', oneOf(MODES));
  fields.done();
  return {
    ...(cnpj !== undefined && { cnpj }),
    ...(amountInCents !== undefined && { amountInCents }),
    ...(environment !== undefined && { environment }),
  };
};
