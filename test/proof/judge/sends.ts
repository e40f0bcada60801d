import type { Finding } from './finding.js';
import type { LoggedEvent, Mishap, Raw, ReceivedCall } from './raw.js';
import type { Story } from './story.js';

/** Milliseconds by which the authorizer's clock may have been moved before or after the run says so. */
const TOLERANCE_MS = 1_500;
/** Two processes of one machine read one clock, so that a send is never stamped before its attempt. */
const SAME_CLOCK_MS = 20;
/** The record of an answer follows the arrival of its send, by as little as an append takes. */
const RECORDED_AFTER_MS = 500;
/** A call that was sent before its deadline arrives within this, unless the network is held. */
const ARRIVES_WITHIN_MS = 5_000;
/** A look-up that is claimed at an instant arrives within this: the client may wait for a connection first. */
const LOOKS_WITHIN_MS = 40_000;

type Window = { from: number; to: number; what: string };

/** When calls were received, by the clock of the run: the authorizer's clock may have been moved meanwhile. */
const instantsOf = (time: string, mishaps: readonly Mishap[]): readonly number[] => {
  const shown = Date.parse(time);
  const moved = mishaps
    .filter(({ kind }) => kind === 'authorizer_clock')
    .map(({ at, until, offsetSeconds = 0 }) => ({
      from: Date.parse(at) - TOLERANCE_MS,
      to: Date.parse(until) + TOLERANCE_MS,
      offset: offsetSeconds * 1_000,
    }));
  return [0, ...moved.map(({ offset }) => offset)]
    .map((offset) => ({ offset, at: shown - offset }))
    .filter(
      ({ offset, at }) => offset === 0 || moved.some((one) => one.offset === offset && one.from <= at && at <= one.to),
    )
    .map(({ at }) => at);
};

/** Bytes that wait in a held line arrive when it goes on. */
const heldUntil = (to: number, mishaps: readonly Mishap[]): number =>
  mishaps
    .filter(({ kind, at }) => kind.endsWith('hold') && Date.parse(at) <= to)
    .reduce((latest, { until }) => Math.max(latest, Date.parse(until) + ARRIVES_WITHIN_MS), to);

/**
 * Every send that the authorizer received belongs to an attempt of its own that was recorded before, and came before that attempt was
 * over: as many sends of a DPS, or of a cancellation, as attempts of it can be matched. A send that the authorizer could not read takes an
 * attempt of its company that is left.
 */
export const judgeSends = ({ calls, mishaps }: Raw, stories: readonly Story[]): readonly Finding[] => {
  const groups = new Map<string, Group>();
  const groupOf = (name: string, company: string): Group => {
    const group = groups.get(name) ?? { company, windows: [], calls: [] };
    groups.set(name, group);
    return group;
  };
  for (const { tenant, events, accessKey } of stories) {
    const company = `${tenant.mode} ${tenant.cnpj}`;
    for (const { dpsId, ...window } of windowsOf(events, 'Issuance', mishaps))
      groupOf(`DPS ${tenant.mode} ${dpsId}`, company).windows.push(window);
    if (accessKey !== undefined)
      groupOf(`cancellation ${tenant.mode} ${accessKey}`, company).windows.push(
        ...windowsOf(events, 'Cancellation', mishaps),
      );
  }
  const unread = new Map<string, ReceivedCall[]>();
  for (const call of calls) {
    if (call.method !== 'POST') continue;
    const company = `${call.environment} ${call.caller}`;
    const [, key] = /\/nfse\/([0-9A-Z]{50})\/eventos$/i.exec(call.path) ?? [];
    if (key !== undefined) groupOf(`cancellation ${call.environment} ${key}`, company).calls.push(call);
    else if (!/\/nfse$/i.test(call.path)) continue;
    else if (call.dps_id !== undefined) groupOf(`DPS ${call.environment} ${call.dps_id}`, company).calls.push(call);
    else unread.set(company, [...(unread.get(company) ?? []), call]);
  }
  const left = new Map<string, Window[]>();
  const findings = [...groups].flatMap(([name, { company, ...group }]) => {
    const matched = match(name, group, mishaps);
    left.set(company, [...(left.get(company) ?? []), ...matched.left]);
    return matched.findings;
  });
  const ofUnread = [...unread].flatMap(
    ([company, own]) => match(`unread ${company}`, { windows: left.get(company) ?? [], calls: own }, mishaps).findings,
  );
  return [...findings, ...ofUnread];
};

/** What was recorded and received of one DPS, or of the cancellation of one note. */
type Group = { company: string; windows: Window[]; calls: ReceivedCall[] };

const windowsOf = (
  events: readonly LoggedEvent[],
  kind: 'Issuance' | 'Cancellation',
  mishaps: readonly Mishap[],
): readonly (Window & { dpsId: string })[] =>
  events
    .filter(({ type }) => type === `${kind}Attempted`)
    .filter(({ data }) => !wasNotSent(events, kind, data.attempt))
    .map(({ meta, data, stream }) => ({
      from: Date.parse(meta.recordedAt ?? '') - SAME_CLOCK_MS,
      to:
        answeredAt(events, kind, data.attempt) ??
        heldUntil(Date.parse(String(data.deadlineAt)) + ARRIVES_WITHIN_MS, mishaps),
      what: `${stream}, attempt ${String(data.attempt)}`,
      dpsId: String(data.dpsId),
    }))
    .map((window) => widenedAtSteps(window, mishaps));

/** Until when a send that was answered must have arrived; undefined without an answer. */
const answeredAt = (events: readonly LoggedEvent[], kind: string, attempt: unknown): number | undefined => {
  const answer = events.find(
    ({ type, data }) =>
      data.attempt === attempt &&
      ((kind === 'Issuance' && type === 'Authorized' && data.evidence === 'response') ||
        (kind === 'Issuance' && type === 'IssuanceRejected' && data.firstAskedAt === undefined) ||
        (type === `${kind}OutcomeUnknown` && data.httpStatus !== undefined)),
  );
  return answer === undefined ? undefined : Date.parse(String(answer.data.at)) + RECORDED_AFTER_MS;
};

/** A refusal of the certificate counts as not sent too, and then a call was received. */
const wasNotSent = (events: readonly LoggedEvent[], kind: string, attempt: unknown): boolean =>
  events.some(
    ({ type, data }) =>
      type === `${kind}NotSent` && data.attempt === attempt && Array.isArray(data.codes) && data.codes.length === 0,
  );

const match = (
  name: string,
  { windows, calls }: { windows: readonly Window[]; calls: readonly ReceivedCall[] },
  mishaps: readonly Mishap[],
): { findings: readonly Finding[]; left: readonly Window[] } => {
  const free = [...windows].sort((one, other) => one.to - other.to);
  const findings: Finding[] = [];
  // The calls come in the order of their arrival, which a moved clock does not change.
  for (const call of calls) {
    const at = instantsOf(call.time, mishaps);
    const place = free.findIndex(({ from, to }) => at.some((instant) => from <= instant && instant <= to));
    if (place >= 0) {
      free.splice(place, 1);
      continue;
    }
    const later = free.find(({ from }) => at.some((instant) => instant < from && from - instant < LOOKS_WITHIN_MS));
    findings.push(
      later === undefined
        ? {
            name: 'double_send',
            detail: `${name}: the authorizer received a send that no attempt is left for`,
            evidence: `call of ${call.time}`,
          }
        : {
            name: 'send_before_record',
            detail: `${name}: the authorizer received a send before ${later.what} was recorded`,
            evidence: `call of ${call.time}`,
          },
    );
  }
  return { findings, left: free };
};

/** Farther than any step moves the clock of the service. */
export const STEPPED_BY_MS = 30_000;

/** What the service recorded near a step of its clock, or planned before, may bear a time of the wrong clock. */
const widenedAtSteps = <Times extends { from: number; to: number }>(times: Times, mishaps: readonly Mishap[]): Times =>
  mishaps.some(
    ({ kind, at, until }) =>
      kind === 'clock_step' &&
      Date.parse(at) - STEPPED_BY_MS <= times.to &&
      times.from <= Date.parse(until) + STEPPED_BY_MS,
  )
    ? { ...times, from: times.from - STEPPED_BY_MS, to: times.to + STEPPED_BY_MS }
    : times;

/** Every look-up that an event claims was received by the authorizer, and answered as the event says. */
export const judgeLookUps = (raw: Raw, stories: readonly Story[]): readonly Finding[] => {
  const asked = new Map<string, { at: readonly number[]; outcome: number | string }[]>();
  for (const { method, path, time, outcome, environment } of raw.calls) {
    if (method === 'POST') continue;
    const [, of] = /\/(?:dps|nfse)\/([0-9A-Z]+)/i.exec(path) ?? [];
    if (of === undefined) continue;
    const name = `${environment} ${of}`;
    const own = asked.get(name) ?? [];
    own.push({ at: instantsOf(time, raw.mishaps), outcome });
    asked.set(name, own);
  }
  const wasAsked = (of: string, since: unknown, wanted: (outcome: number | string) => boolean): boolean => {
    const claimed = Date.parse(String(since)) - TOLERANCE_MS;
    const { from, to } = widenedAtSteps(
      { from: claimed, to: heldUntil(claimed + LOOKS_WITHIN_MS + 2 * TOLERANCE_MS, raw.mishaps) },
      raw.mishaps,
    );
    return (asked.get(of) ?? []).some(
      ({ at, outcome }) => wanted(outcome) && at.some((instant) => from <= instant && instant <= to),
    );
  };
  return stories.flatMap((story) =>
    story.events.flatMap((event) => {
      const claim = claimOf(story, event);
      if (
        claim === undefined ||
        claim.since.every((at) => wasAsked(`${story.tenant.mode} ${claim.of}`, at, claim.wanted))
      )
        return [];
      return [
        {
          name: 'verdict_without_look_up' as const,
          detail: `${event.type} of ${story.id} rests on a look-up of ${claim.of} that the authorizer did not answer so`,
          evidence: `${story.stream}@${event.revision}`,
        },
      ];
    }),
  );
};

type Claim = { of: string; since: readonly unknown[]; wanted: (outcome: number | string) => boolean };

const isAbsent = (outcome: number | string): boolean => outcome === 404 || outcome === 405;
const isAnswer = (outcome: number | string): boolean => typeof outcome === 'number';

const claimOf = ({ events, accessKey }: Story, { type, data, at }: LoggedEvent): Claim | undefined => {
  const attempts = events.filter((event) => event.type === 'IssuanceAttempted');
  const dpsId = String(attempts.find((event) => event.data.attempt === data.attempt)?.data.dpsId);
  const absences = [data.firstAskedAt, data.secondAskedAt];
  switch (type) {
    case 'IssuanceProvenAbsent':
      return { of: String(data.dpsId), since: absences, wanted: isAbsent };
    case 'IssuanceRejected':
      return data.firstAskedAt === undefined ? undefined : { of: dpsId, since: absences, wanted: isAbsent };
    case 'CancellationProvenAbsent':
      return accessKey === undefined ? undefined : { of: accessKey, since: absences, wanted: isAbsent };
    case 'Authorized': {
      if (data.evidence !== 'lookup') return undefined;
      // The look-up came before its record.
      const since = new Date(Date.parse(at) - LOOKS_WITHIN_MS).toISOString();
      return { of: dpsId, since: [since], wanted: (outcome) => outcome === 200 };
    }
    case 'IssuanceInterrupted': {
      const last = attempts.at(-1)?.data.dpsId;
      return last === undefined ? undefined : { of: String(last), since: [data.failedAt], wanted: isAnswer };
    }
    default:
      return undefined;
  }
};
