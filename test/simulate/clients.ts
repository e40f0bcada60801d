import { acceptInvoice } from '../../src/app/accept/accept-invoice.js';
import { cancelInvoice } from '../../src/app/cancel/cancel-invoice.js';
import { bodyHashOf, sha256Hex } from '../../src/app/event-store/hashes.js';
import { loadInvoice } from '../../src/app/read/read-invoice.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { invoiceStatus } from '../../src/domain/invoice/status.js';
import { limits } from '../support/fixture/invoice.js';
import { requester } from '../support/harness/accept.js';
import type { Choices } from './choices.js';
import type { Api } from './processes.js';
import type { Process } from './scheduler.js';

/** An invoice that a client wants; `clients`: how many ask for it at once. */
type Wish = {
  name: string;
  amountInCents: number;
  key: boolean;
  reference: boolean;
  clients: number;
  cancels: boolean;
};

const MOST_WISHES = 4;

/** The fewest and simplest come from zeros. All are drawn, so that fewer of them leave the other choices in their places. */
export const drawWishes = (choices: Choices): readonly Wish[] => {
  const count = 1 + choices.below(MOST_WISHES);
  const drawn = Array.from({ length: MOST_WISHES }, (_, number): Wish => {
    const protection = choices.below(3);
    return {
      name: `w${number + 1}`,
      amountInCents: 10_000 + number,
      key: protection !== 1,
      reference: protection !== 0,
      clients: 1 + choices.below(2),
      cancels: choices.below(3) === 2,
    };
  });
  return drawn.slice(0, count);
};

/** What clients were told: the ids that each wish was given, and the statuses of each id in order. */
export type Told = { ids: Map<string, Set<string>>; statuses: Map<string, string[]> };

const AGAIN_AFTER_SECONDS = 2;
const POLL_SECONDS = 60;

/** Asks until it has an answer, reads until the outcome is known, and cancels when it wants to. Resolves when it wants nothing more. */
export const runClient = async (wish: Wish, process: Process, anyApi: () => Api, told: Told): Promise<void> => {
  const id = await issue(wish, process, anyApi, told);
  if (id === undefined) return;
  const stream = invoiceStream(requester.mode, requester.companyId, id);
  const look = async (): Promise<string | undefined> => {
    const seen = await ask(anyApi(), async ({ store }) => {
      const { state } = await loadInvoice(stream, store);
      if (state.kind !== 'invoice') return 'not found';
      return `${invoiceStatus(state)}${state.cancellation === undefined ? '' : `, cancellation ${state.cancellation.status}`}`;
    });
    if (seen === 'lost') return undefined;
    told.statuses.set(id, [...(told.statuses.get(id) ?? []), seen]);
    return seen;
  };
  const untilSeen = async (isOver: (status: string) => boolean): Promise<string> => {
    for (;;) {
      await process.sleep(POLL_SECONDS);
      await process.turn(`reads ${wish.name}`);
      const seen = await look();
      if (seen !== undefined && isOver(seen)) return seen;
    }
  };
  const outcome = await untilSeen((status) => !status.startsWith('queued') && !status.startsWith('processing'));
  if (!wish.cancels || !outcome.startsWith('issued')) return;
  for (;;) {
    await process.turn(`cancels ${wish.name}`);
    const { clock } = anyApi().acceptDeps;
    const answer = await ask(anyApi(), ({ store }) =>
      cancelInvoice({ invoiceId: id }, requester, {
        store,
        clock,
        waitForProjection: async () => undefined,
        testRetentionSeconds: limits.testRetentionSeconds,
      }),
    );
    if (answer !== 'lost') break;
    await process.sleep(AGAIN_AFTER_SECONDS);
  }
  await untilSeen((status) => status.startsWith('canceled') || status.endsWith('failed'));
};

const issue = async (wish: Wish, process: Process, anyApi: () => Api, told: Told): Promise<string | undefined> => {
  const request = {
    amountInCents: wish.amountInCents,
    description: 'Serviço',
    ...(wish.reference ? { reference: `ref-${wish.name}` } : {}),
  };
  const idempotency = { keyHash: sha256Hex(`key-${wish.name}`), plainBodyHash: bodyHashOf(request) };
  for (;;) {
    await process.turn(`asks for ${wish.name}`);
    const answer = await ask(anyApi(), ({ acceptDeps }) =>
      acceptInvoice({ request, ...(wish.key ? { idempotency } : {}) }, requester, acceptDeps),
    );
    if (answer !== 'lost') {
      if ('accepted' in answer) {
        const { invoiceId } = answer.accepted.facts;
        told.ids.set(wish.name, (told.ids.get(wish.name) ?? new Set()).add(invoiceId));
        return invoiceId;
      }
      // Its own earlier request, or that of a client beside it.
      if (answer.refused.code === 'nfse.reference_in_use' || answer.refused.code === 'duplicate_suspected')
        return undefined;
      if (answer.refused.code !== 'idempotency_key_in_use') throw new Error(`refused: ${answer.refused.code}`);
    }
    await process.sleep(AGAIN_AFTER_SECONDS);
  }
};

/** `lost`: the process crashed or could not answer; the client knows nothing. */
const ask = async <T>(api: Api, call: (api: Api) => Promise<T>): Promise<T | 'lost'> =>
  await Promise.race([call(api).catch(() => 'lost' as const), api.process.crashed.then(() => 'lost' as const)]);
