import { verifyLog } from '../../app/audit/verify-log.js';
import type { TimelineEntry } from '../../app/operator/support/invoice-case.js';
import { renderTimeline } from '../../cli/commands/invoice.js';
import type { Client } from '../../client/client.js';
import type { EventLog } from '../../ports/event-log.js';
import { DemoFailed, lookUntil, untilIssued } from './demo-client.js';

/** What both stories of the demo use: the service and its simulator, with the demo company registered. */
export type DemoStage = {
  client: Pick<Client, 'issue' | 'get' | 'waitForOutcome' | 'cancel' | 'download'>;
  /** Origin of the simulator's control port. */
  controlUrl: string;
  storyOf(id: string): Promise<readonly TimelineEntry[] | undefined>;
  log: EventLog;
  interrupted?: AbortSignal | undefined;
  show(text: string): void;
  write(text: string): void;
};

/** What the demo ends with: its invoice, the verdict on the log, and the events as an auditor reads them. */
export type DemoStory = { id: string; verified: true; events: number; timeline: readonly TimelineEntry[] };

/** Shorter than the default of 30 s, so that the demo takes seconds. */
export const LOOKUP_AFTER_S = 5;

export const DEMO_REQUEST = {
  amount_in_cents: 150_000,
  description: 'Desenvolvimento de sistema, parcela de {{mes_extenso}} de {{ano}}',
  customer: { document: '11222333000181', name: 'CLIENTE FICTICIO COMERCIO LTDA' },
  reference: 'pedido-1001',
};

export const DEMO_KEY = { idempotencyKey: 'pedido-1001-1' };

/** The note is made and its answer is lost. Returns the invoice's id; throws when the story ends in anything but one note. */
export const loseAnswer = async (stage: Omit<DemoStage, 'log' | 'write'>): Promise<string> => {
  const { client, show } = stage;
  await control(stage, 'POST', '/faults', { on: 'issue', kind: 'lost_after_commit' });
  show('the simulator is set to make the next note and then to cut the connection instead of answering');
  const accepted = await client.issue(DEMO_REQUEST, DEMO_KEY);
  show(`POST /v1/nfse -> 202 ${accepted.status}, ${accepted.id}`);

  const { evidence: sent } = await untilRecorded(stage, accepted.id, 'IssuanceAttempted');
  const { evidence: lost } = await untilRecorded(stage, accepted.id, 'IssuanceOutcomeUnknown');
  show(`the service recorded that it would send (${sent}), then sent the DPS`);
  show(`the connection was cut (${lost}): the service does not know whether a note exists`);
  const before = await notesOf(stage);
  show(`the authorizer does know: its ledger holds ${before.length} note`);
  const waiting = await client.get(accepted.id);
  show(`GET  /v1/nfse/{id} -> ${waiting.status}; the service does not send again, it looks the DPS up first`);

  const issued = await untilIssued(client, accepted.id);
  const { evidence: found } = await untilRecorded(stage, accepted.id, 'Authorized');
  show(`after a pause of ${LOOKUP_AFTER_S} s (30 s by default) the look-up found the note: ${found}`);
  show(`GET  /v1/nfse/{id} -> ${issued.status}`);
  const notes = await notesOf(stage);
  const sends = await sendsTo(stage);
  const isOneNote = notes.length === 1 && notes[0]?.access_key === issued.access_key && sends === 1;
  if (!isOneNote || !found.endsWith('by lookup'))
    throw new DemoFailed(`the authorizer holds ${notes.length} notes after ${sends} sends`);
  show(`the authorizer received ${sends} send and holds exactly ${notes.length} note for this request: never two`);
  return issued.id;
};

/** The log verified, and the events of the invoice as an auditor reads them. */
export const showProof = async (id: string, { storyOf, log, show, write }: DemoStage): Promise<DemoStory> => {
  const story = await storyOf(id);
  if (story === undefined) throw new DemoFailed('the invoice has no events');
  const report = await verifyLog(log);
  if (report.findings.total > 0)
    throw new DemoFailed(`the log does not verify: ${JSON.stringify(report.findings.kept)}`);
  show(`hash chain verified: ${report.events} events in ${report.streams} streams`);
  write(`\nThe invoice's events, as an auditor reads them:\n\n${renderTimeline(story)}\n\n`);
  return { id, verified: true, events: report.events, timeline: story };
};

const untilRecorded = (
  { storyOf, interrupted }: Pick<DemoStage, 'storyOf' | 'interrupted'>,
  id: string,
  event: string,
): Promise<TimelineEntry> =>
  lookUntil(
    async () => (await storyOf(id))?.find((entry) => entry.event === event),
    () => `${id} has no ${event}`,
    interrupted,
  );

type Controlled = Pick<DemoStage, 'controlUrl'>;

/** The authorizer's own ledger, not what the service believes. */
const notesOf = async (stage: Controlled) =>
  (await control(stage, 'GET', '/ledger?environment=test')) as readonly { access_key: string }[];

const sendsTo = async (stage: Controlled): Promise<number> => {
  const calls = (await control(stage, 'GET', '/calls')) as readonly { method: string; path: string }[];
  return calls.filter(({ method, path }) => method === 'POST' && path.endsWith('/nfse')).length;
};

const control = async ({ controlUrl }: Controlled, method: string, path: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(`${controlUrl}/_control${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new DemoFailed(`the simulator answered ${response.status} to ${method} ${path}`);
  return await response.json();
};
