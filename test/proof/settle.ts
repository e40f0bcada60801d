import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clients } from './clients.js';
import { drawsOf } from './draws.js';
import type { DocumentFile, LoggedEvent } from './judge/raw.js';
import { type Story, storiesOf } from './judge/story.js';
import { runNfse } from './program.js';
import { readLines } from './read-lines.js';
import type { Recorder } from './recorder.js';
import type { Service } from './service.js';
import { type Keys, TENANT_NAMES, TENANTS, type TenantName } from './tenants.js';

const SETTLES_WITHIN_MS = 300_000;
const EXPORTS_AT_MOST = 4;
const LOOK_EVERY_MS = 3_000;
const AT_ONCE = 8;
const REPEATED_AT_MOST = 1_500;

/** Does the work for each item, so many at once. */
export const forEachOf = async <T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> => {
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

/**
 * Waits until every accepted invoice has an outcome and every cancellation an end, also those whose clients have vanished. The last look
 * at the log; what is still open then is for the judge to name.
 */
export const untilSettled = async (
  service: Service,
  file: string,
  recorder: Recorder,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<readonly Story[]> => {
  const until = Date.now() + SETTLES_WITHIN_MS;
  for (;;) {
    signal.throwIfAborted();
    await exportLog(service, file, recorder);
    const stories = storiesOf(await readLines<LoggedEvent>(file));
    const open = stories.filter(isOpen).length;
    say(`${stories.length} invoices, ${open} still open`);
    if (open === 0 || Date.now() > until) return stories;
    await pause(LOOK_EVERY_MS);
  }
};

export const tenantNameOf = ({ tenant }: Story): TenantName =>
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
