import type { Finding } from './finding.js';
import type { LedgerNote, LoggedEvent, Raw, Tenant } from './raw.js';
import type { Story } from './story.js';

const isOf = ({ cnpj, mode }: Tenant, note: LedgerNote): boolean => note.cnpj === cnpj && note.environment === mode;

const nameOf = ({ cnpj, mode }: Tenant): string => `${mode} ${cnpj}`;

/** By company, mode and amount: each wish of the run has an amount of its own. */
const amountKey = (tenant: Tenant, amountInCents: number): string => `${nameOf(tenant)} ${amountInCents}`;

/**
 * No request became two notes: a wish of a client, with all its repeats and races, has one note at most, and so has a DPS id. Every note has the amount
 * of a request, and belongs to an attempt that the log holds.
 */
export const judgeNotes = ({ http, ledger, run }: Raw, stories: readonly Story[]): readonly Finding[] => {
  const findings: Finding[] = [];
  const wishes = new Map<string, string>();
  for (const { tenant, intent, method, path, body } of http) {
    const owner = run.tenants[tenant];
    if (owner === undefined || method !== 'POST' || path !== '/v1/nfse') continue;
    wishes.set(amountKey(owner, Number(body?.amount_in_cents)), intent);
  }
  const byName = new Map<string, LedgerNote[]>();
  const add = (name: string, note: LedgerNote): void => void byName.set(name, [...(byName.get(name) ?? []), note]);
  for (const note of ledger) {
    const wish = wishes.get(amountKey({ cnpj: note.cnpj, mode: note.environment }, note.amount_in_cents));
    add(`DPS ${note.environment} ${note.dps_id}`, note);
    if (wish !== undefined) add(wish, note);
    else
      findings.push({
        name: 'note_without_request',
        detail: `the authorizer holds a note of ${note.amount_in_cents} cents, which no request of its company has`,
        evidence: note.access_key,
      });
  }
  for (const [name, notes] of byName)
    if (notes.length > 1)
      findings.push({
        name: 'second_note',
        detail: `${name} became ${notes.length} notes`,
        evidence: notes.map(({ access_key }) => access_key).join(' '),
      });
  const attempted = new Set(stories.flatMap((story) => dpsIdsOf(story)));
  for (const note of ledger)
    if (!attempted.has(`${note.environment} ${note.dps_id}`))
      findings.push({
        name: 'note_without_attempt',
        detail: `the authorizer holds a note of ${note.dps_id}, of which the log has no attempt`,
        evidence: note.access_key,
      });
  return findings;
};

/** With the environment: each has a numbering of its own. */
const dpsIdsOf = ({ tenant, events }: Story): readonly string[] => [
  ...new Set(
    events.flatMap(({ type, data }) => (type === 'IssuanceAttempted' ? [`${tenant.mode} ${String(data.dpsId)}`] : [])),
  ),
];

/**
 * Every invoice has an outcome, and the ledger agrees with it: `issued` with that note, `failed` with none, `canceled` with its event. What only its
 * hour can end needs no outcome yet.
 */
export const judgeOutcomes = (raw: Raw, stories: readonly Story[]): readonly Finding[] => {
  const { ledger } = raw;
  const byKey = new Map(ledger.map((note) => [`${note.environment} ${note.access_key}`, note]));
  const byDps = new Map(ledger.map((note) => [`${note.environment} ${note.dps_id}`, note]));
  return stories.flatMap((story) => {
    const note = byKey.get(`${story.tenant.mode} ${story.accessKey}`);
    const ofAttempts = dpsIdsOf(story).flatMap((dpsId) => byDps.get(dpsId) ?? []);
    return contradictionOf(story, { note, ofAttempts, waits: waitsForItsHour(raw, story) }) ?? [];
  });
};

const HOUR_MS = 3_600_000;
/** Longer than the longest pause between two look-ups of a run. */
const LOOKED_UP_WITHIN_MS = 30_000;

/**
 * True for an open invoice or cancellation that nothing but the hour of the contract can end: the authorizer refused it with a code of no catalogue
 * after an attempt that may have arrived, so absences prove nothing. It must be younger than an hour and looked up until the end of the run, because
 * otherwise the service has forgotten it.
 */
export const waitsForItsHour = (
  { calls }: Pick<Raw, 'calls'>,
  { events, status, cancellation, tenant, accessKey }: Story,
): boolean => {
  const isCancellation = cancellation === 'pending';
  if (status !== 'processing' && !isCancellation) return false;
  const kind = isCancellation ? 'Cancellation' : 'Issuance';
  const request = events.findLast(({ type }) => type === 'CancellationRequested')?.data.request;
  const own = events.filter(({ data }) => !isCancellation || data.request === request);
  const attempts = own.filter(({ type }) => type === `${kind}Attempted`);
  const wasNotSent = ({ data }: LoggedEvent): boolean =>
    own.some(({ type, data: answer }) => type === `${kind}NotSent` && answer.attempt === data.attempt);
  const refused = own.find(({ type, data }) => type === `${kind}OutcomeUnknown` && data.refused === true);
  const mayHaveArrived = attempts.filter((attempt) => !wasNotSent(attempt));
  const [first] = mayHaveArrived;
  if (refused === undefined || first === undefined || first.data.attempt === refused.data.attempt) return false;
  const of = isCancellation ? accessKey : String(attempts.at(-1)?.data.dpsId);
  const isLookUp = ({ method, path, environment }: Raw['calls'][number]): boolean =>
    method !== 'POST' && environment === tenant.mode && path.includes(`/${of}`);
  const last = calls.findLast(isLookUp);
  const end = calls.at(-1);
  if (last === undefined || end === undefined) return false;
  const endsAt = Date.parse(end.time);
  return endsAt - Date.parse(last.time) < LOOKED_UP_WITHIN_MS && endsAt - Date.parse(first.at) < HOUR_MS;
};

/** `note`: the one that the invoice names. `ofAttempts`: those that its attempts became. */
type Held = { note: LedgerNote | undefined; ofAttempts: readonly LedgerNote[]; waits: boolean };

const contradictionOf = (story: Story, { note, ofAttempts, waits }: Held): Finding | undefined => {
  const { id, stream: evidence, status, cancellation } = story;
  const wrong = (detail: string): Finding => ({
    name: 'wrong_outcome',
    detail: `${id} is ${status}: ${detail}`,
    evidence,
  });
  switch (status) {
    case 'queued':
    case 'processing':
      return waits ? undefined : { name: 'lost_invoice', detail: `${id} was accepted and has no outcome`, evidence };
    case 'failed':
      return ofAttempts[0] && wrong(`the authorizer holds note ${ofAttempts[0].access_key}`);
    case 'indeterminate':
      // Only an hour without an answer makes it so, and no run leaves an invoice alone for as long.
      return wrong('the run left no reason for it');
    case 'issued':
    case 'canceled': {
      if (note === undefined || !isOf(story.tenant, note))
        return wrong(`the authorizer holds no note ${story.accessKey}`);
      const { amount_in_cents: amount, canceled_at: canceledAt } = note;
      if (amount !== story.amountInCents) return wrong(`its note is of ${amount} cents, not of ${story.amountInCents}`);
      if (status === 'canceled')
        return canceledAt === undefined
          ? { name: 'cancel_without_event', detail: `${id} is canceled, and the authorizer holds no event`, evidence }
          : undefined;
      if (canceledAt !== undefined) return wrong('the authorizer holds an event that cancels its note');
      return cancellation === 'pending' && !waits ? wrong('its cancellation has no outcome') : undefined;
    }
  }
};

/** No DPS number and no DPS id belongs to two invoices, and a number is given once. */
export const judgeNumbers = ({ events }: Raw, stories: readonly Story[]): readonly Finding[] => {
  const findings: Finding[] = [];
  const given = new Map<string, string>();
  for (const { type, stream, data, position } of events) {
    if (type !== 'DpsNumberAllocated') continue;
    const number = `${stream} ${String(data.number)}`;
    const before = given.get(number);
    if (before !== undefined)
      findings.push({
        name: 'reused_number',
        detail: `${number} was given twice`,
        evidence: `positions ${before} and ${position}`,
      });
    given.set(number, position);
  }
  const owners = new Map<string, string>();
  for (const story of stories)
    for (const dpsId of dpsIdsOf(story)) {
      const before = owners.get(dpsId);
      if (before !== undefined)
        findings.push({
          name: 'reused_number',
          detail: `${dpsId} belongs to ${before} and ${story.id}`,
          evidence: story.stream,
        });
      owners.set(dpsId, story.id);
    }
  return findings;
};
