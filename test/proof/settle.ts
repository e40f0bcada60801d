import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { AuthorizerOfRun } from './authorizer.js';
import type { Clients } from './clients.js';
import { drawsOf } from './draws.js';
import { waitsForItsHour } from './judge/ledger.js';
import type { DocumentFile, LoggedEvent, ReceivedCall } from './judge/raw.js';
import { type Story, storiesOf } from './judge/story.js';
import { runNfse } from './program.js';
import { readLines } from './read-lines.js';
import type { Recorder } from './recorder.js';
import type { Service } from './service.js';
import { type Keys, TENANT_NAMES, TENANTS, type TenantName } from './tenants.js';

/** Milliseconds for outcomes after the mishaps, and after the last start. */
export const SETTLES_WITHIN_MS = { first: 300_000, last: 120_000 } as const;
/** Longer than a late note or event takes to appear, and to be looked up. */
const UNCHANGED_FOR_MS = 30_000;
const EXPORTS_AT_MOST = 4;
const LOOK_EVERY_MS = 3_000;
const AT_ONCE = 8;
const REPEATED_AT_MOST = 1_500;

/** Does the work for each item, so many at once. */
const forEachOf = async <T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> => {
  const left = [...items];
  const lane = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
};

const isOpen = ({ status, cancellation }: Story): boolean =>
  status === 'queued' || status === 'processing' || cancellation === 'pending';

/** Exports the log into the file. A failed export is a trouble of the run, and is tried again, so that the rest can still be judged. */
export const exportLog = async (service: Service, file: string, recorder: Recorder): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await runNfse(['events', 'export', '--replace', '--out', file], service.env);
      return;
    } catch (error) {
      if (attempt === EXPORTS_AT_MOST) throw error;
      recorder.trouble(error instanceof Error ? error.message : 'the export of the log failed');
      await pause(LOOK_EVERY_MS);
    }
  }
};

/** What no wait of minutes can end, and what it can, among the open invoices and cancellations. */
export const openOf = (
  stories: readonly Story[],
  calls: readonly ReceivedCall[],
): { undecided: readonly Story[]; inTheirHour: readonly Story[] } => {
  const open = stories.filter(isOpen);
  const inTheirHour = open.filter((story) => waitsForItsHour({ calls }, story));
  return { undecided: open.filter((story) => !inTheirHour.includes(story)), inTheirHour };
};

/**
 * Waits until every accepted invoice has an outcome and every cancellation an end, also those whose clients have vanished. What only its hour can end is
 * given up after 30 s. The last look at the log; what is still open then is for the judge to name.
 */
export const untilSettled = async (
  { service, authorizer }: { service: Service; authorizer: Pick<AuthorizerOfRun, 'calls'> },
  file: string,
  recorder: Recorder,
  say: (text: string) => void,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<readonly Story[]> => {
  const until = Date.now() + withinMs;
  let undecidedAt = Date.now();
  for (;;) {
    signal.throwIfAborted();
    await exportLog(service, file, recorder);
    const stories = storiesOf(await readLines<LoggedEvent>(file));
    const { undecided, inTheirHour } = openOf(stories, await authorizer.calls());
    const waiting = inTheirHour.length === 0 ? '' : `, ${inTheirHour.length} in their hour`;
    say(`${stories.length} invoices, ${undecided.length} still open${waiting}`);
    if (undecided.length > 0) undecidedAt = Date.now();
    const isUnchanged = Date.now() - undecidedAt >= UNCHANGED_FOR_MS;
    if (undecided.length === 0 && (inTheirHour.length === 0 || isUnchanged)) return stories;
    if (Date.now() > until) return stories;
    await pause(LOOK_EVERY_MS);
  }
};

const tenantNameOf = ({ tenant }: Story): TenantName =>
  TENANT_NAMES.find((name) => TENANTS[name].cnpj === tenant.cnpj && TENANTS[name].mode === tenant.mode) ?? 'a-test';

/** After the last start each promise is asked for once more: the same request gives the same invoice. */
export const repeatRequests = async (seed: number, clients: Clients): Promise<void> => {
  const keyed = [...clients.promised.values()].filter(({ request }) => request.idempotencyKey !== undefined);
  const drawn = drawsOf(seed, 'repeats').shuffled(keyed.slice(0, MOST_SHUFFLED)).slice(0, REPEATED_AT_MOST);
  await forEachOf(drawn, ({ tenant, wish, request }) =>
    clients.ask({ tenant, intent: wish.name, method: 'POST', path: '/v1/nfse', request }),
  );
};

/** Drawing from a list costs its length each time. */
const MOST_SHUFFLED = 20_000;

/** A last answer about each invoice of the log, by its own tenant. */
export const readAllOnce = (clients: Clients, stories: readonly Story[]): Promise<void> =>
  forEachOf(stories, (story) =>
    clients.ask({ tenant: tenantNameOf(story), intent: 'last look', method: 'GET', path: `/v1/nfse/${story.id}` }),
  );

/** Downloads the XML of each invoice that has one, as a client would. */
export const downloadNotes = async (
  folder: string,
  service: Service,
  keys: Keys,
  stories: readonly Story[],
  recorder: Recorder,
): Promise<readonly DocumentFile[]> => {
  const documents: DocumentFile[] = [];
  const able = stories.filter(
    ({ status, tenant }) => status === 'issued' || (status === 'canceled' && tenant.mode === 'live'),
  );
  await forEachOf(able, async (story) => {
    const response = await fetch(`${service.origins()[0]}/v1/nfse/${story.id}/xml`, {
      headers: { authorization: `Bearer ${keys[tenantNameOf(story)]}` },
    });
    if (response.status !== 200) {
      recorder.trouble(`the XML of ${story.id} was answered with ${response.status}`);
      return;
    }
    const file = join('documents', `${story.id}.service.NFSe.xml`);
    await writeFile(join(folder, file), Buffer.from(await response.arrayBuffer()));
    documents.push({ file, kind: 'NFSe', of: `${story.tenant.mode} ${story.accessKey}`, from: 'service' });
  });
  return documents;
};
