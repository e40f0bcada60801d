import type { Check } from '../../cli/session.js';

/** Seconds. `dhEmi` is a minute before the acceptance, so a clock that is ahead by more than that has every DPS refused (E0008). */
const LARGEST_OFFSET_S = 30;

/**
 * `whose`: the other clock. `seconds`: how far it is ahead of this machine's. `queuedSeconds`: a step forward of this or more fails each invoice that
 * waits for its first attempt, also when the service is stopped for the step. So the queue has to be empty before.
 */
export const clockCheckOf = (name: string, whose: string, seconds: number, queuedSeconds: number): Check => {
  const whole = Math.round(seconds);
  const ok = Math.abs(whole) <= LARGEST_OFFSET_S;
  const detail =
    whole === 0 ? `the same as ${whose}` : `${whose} is ${Math.abs(whole)} s ${whole > 0 ? 'ahead of' : 'behind'} ours`;
  return { name, ok, detail, cure: ok ? undefined : whole < queuedSeconds ? SET : EMPTY_AND_SET };
};

const SET = "set this machine's clock (NTP)";

const EMPTY_AND_SET =
  'if ours is wrong: nfse api off, wait until nfse invoice list --status queued is empty, stop the service on this machine, set its clock (NTP), start the service, nfse api on (docs/operations/monitoring.md#nfseclockapart)';
