import { bodyHashUnder } from '../../src/app/accept/guard-hashes.js';
import { bodyHashOf, sha256Hex } from '../../src/app/event-store/hashes.js';
import { epochMs } from '../../src/domain/common/time.js';
import type { GuardKey } from '../../src/ports/guard-keys.js';
import { requester } from '../support/harness/accept.js';
import { guardKeyOf } from '../support/harness/event-store.js';
import type { Acceptance, Client, Try } from './accepting-world.js';

type Seen = {
  accepted: readonly Acceptance[];
  tries: readonly Try[];
  /** Rows of the keys, and whether their lease still runs. */
  keys: readonly { leaseToken: string; isOpen: boolean }[];
};

const KEY_LIFE_MS = 86_400_000;
const WINDOW_MS = 60_000;

/** The first promise of docs/architecture.md#uniqueness that a state breaks; undefined when it keeps all. */
export const breachOf = (seen: Seen): string | undefined =>
  sharedStream(seen) ??
  twoForOneKey(seen) ??
  twoForOneContent(seen) ??
  untrueAnswer(seen) ??
  brokenRefusal(seen) ??
  keptKey(seen);

const pairs = (accepted: readonly Acceptance[]): readonly (readonly [Acceptance, Acceptance])[] =>
  accepted.flatMap((one, index) => accepted.slice(index + 1).map((other) => [one, other] as const));

const apartMs = (one: Acceptance, other: Acceptance): number =>
  Math.abs(epochMs(one.acceptedAt) - epochMs(other.acceptedAt));

const sharedStream = ({ accepted }: Seen): string | undefined =>
  pairs(accepted).some(([one, other]) => one.stream === other.stream) ? 'two acceptances on one stream' : undefined;

const twoForOneKey = ({ accepted }: Seen): string | undefined =>
  pairs(accepted).some(
    ([one, other]) => one.keyHash !== undefined && one.keyHash === other.keyHash && apartMs(one, other) < KEY_LIFE_MS,
  )
    ? 'two invoices for one key'
    : undefined;

/** Under two keys only the amounts can be compared; in stories with two keys all requests have the same content. */
const isSameContent = (one: Acceptance, other: Acceptance): boolean =>
  one.tag === other.tag ? one.fingerprint === other.fingerprint : one.amountInCents === other.amountInCents;

/** The duplicate window refuses requests without a key; a keyed request counts in the window from its 202 on (IDEM-5). */
const twoForOneContent = ({ accepted, tries }: Seen): string | undefined => {
  const known = (keyed: Acceptance): boolean =>
    tries.some(({ answer, end }) => end === 'heard' && invoiceIn(answer) === keyed.invoiceId);
  return pairs(accepted).some(
    ([one, other]) =>
      isSameContent(one, other) &&
      apartMs(one, other) < WINDOW_MS &&
      other.keyHash === undefined &&
      (one.keyHash === undefined || known(one)),
  )
    ? 'two invoices within the duplicate window'
    : undefined;
};

const invoiceIn = (answer: Try['answer']): string | undefined =>
  answer !== undefined && 'accepted' in answer ? answer.accepted.invoiceId : undefined;

const untrueAnswer = ({ accepted, tries }: Seen): string | undefined => {
  const shown = new Map<string, Acceptance>();
  for (const { answer, client } of tries) {
    if (answer === undefined || !('accepted' in answer)) continue;
    const { invoiceId, amountInCents } = answer.accepted;
    const stored = accepted.find((one) => one.invoiceId === invoiceId);
    if (stored?.amountInCents !== amountInCents) return 'a 202 shows what is not stored';
    if (amountInCents !== requestOf(client.request).amountInCents) return 'a 202 shows another request';
    if (client.key === undefined) continue;
    const earlier = shown.get(client.name) ?? stored;
    if (earlier.stream !== stored.stream && apartMs(earlier, stored) < KEY_LIFE_MS)
      return 'a 202 shows another invoice than the one before it';
    shown.set(client.name, stored);
  }
  return undefined;
};

/** What a client was refused must not be issued later. A key in use is to be asked for again, and so is an answer that was lost. */
const brokenRefusal = ({ accepted, tries }: Seen): string | undefined =>
  tries.some(
    ({ answer, end, client }) =>
      end !== 'dead' &&
      end !== 'lost' &&
      answer !== undefined &&
      'refused' in answer &&
      answer.refused !== 'idempotency_key_in_use' &&
      accepted.some((one) => isOf(one, client)),
  )
    ? 'accepted although it was refused'
    : undefined;

/** A lease that outlives the refusal of its request blocks the key until the lease ends. */
const keptKey = ({ keys, tries }: Seen): string | undefined =>
  tries.some(
    ({ answer, end, leaseToken }) =>
      end !== undefined &&
      end !== 'dead' &&
      answer !== undefined &&
      'refused' in answer &&
      answer.refused !== 'idempotency_key_in_use' &&
      keys.some((row) => row.isOpen && row.leaseToken === leaseToken),
  )
    ? 'a refusal keeps the key'
    : undefined;

/** Whether a refusal is untrue at the moment when it is given. `others`: every other try until now. */
export const untrueRefusal = (
  code: string,
  { client, isAlone }: Try,
  accepted: readonly Acceptance[],
  others: readonly Try[],
): string | undefined => {
  if (code === 'idempotency_key_in_use') return undefined;
  const own = accepted.some((one) => isOf(one, client));
  if (own) return 'refused although it was accepted';
  const leftNothing = (other: Try): boolean =>
    other.answer !== undefined &&
    ('refused' in other.answer || 'failed' in other.answer) &&
    !other.heard.includes(LATE);
  if (code === 'duplicate_suspected' && isAlone && accepted.length === 0 && others.every(leftNothing))
    return 'suspected although nothing was accepted';
  return undefined;
};

/** The entry in a try's memory for an append with an unknown outcome. */
const LATE = 'append: AppendOutcomeUnknown';

export const laterKey: GuardKey = { tag: 'later', key: Buffer.alloc(32, 'later') };

const isOf = ({ keyHash, bodyHash }: Acceptance, { key, request }: Client): boolean => {
  if (key === undefined || keyHash !== sha256Hex(key)) return false;
  const { mode, companyId } = requester;
  const plain = bodyHashOf(requestOf(request));
  return [guardKeyOf(mode), laterKey].some(
    (one) => bodyHash === bodyHashUnder(one, { mode, companyId, keyHash }, plain),
  );
};

export const requestOf = (request: Client['request']) => ({
  amountInCents: 10_000,
  description: 'Serviço',
  ...request,
});
