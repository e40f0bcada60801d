import { type ClientRequest, get as getOverHttp, type IncomingMessage } from 'node:http';
import { get as getOverHttps } from 'node:https';
import * as v from 'valibot';
import { withoutMask } from '../../domain/common/masks.js';
import { present } from '../../domain/common/present.js';
import type { EntryAddress } from '../../domain/registry/events.js';
import { readUpTo } from '../../lib/bound-chunks.js';
import type { RegistryEntry } from '../../ports/tax-registry.js';

/** An answer has about a hundred bytes; a registry that returns everything about a company has a few thousand. */
export const MAX_REGISTRY_BYTES = 64 * 1024;

/** Line breaks, tabs and other control characters become a space, because they would enter the record and the signed document (TEXT-3, TEXT-5). */
const oneLine = v.pipe(
  v.string(),
  v.transform((said) => said.replace(/[\s\p{Cc}]+/gu, ' ').trim()),
);

const text = (most: number) => v.pipe(oneLine, v.minLength(1), v.maxLength(most));

/** Registries write what an address does not have, such as a complement, as null or as an empty text. */
const blank = v.union([v.null(), v.pipe(oneLine, v.literal(''))]);

const absent = v.pipe(
  blank,
  v.transform(() => undefined),
);

/** What an address without a number has in its place (docs/national-system.md#customer-address). */
const NO_NUMBER = 'S/N';

const noNumber = v.pipe(
  blank,
  v.transform(() => NO_NUMBER),
);

/** The address of an entry of `nfse registry put`. */
const address = v.pipe(
  v.object({
    street: text(255),
    number: v.union([text(60), noNumber]),
    complement: v.optional(v.union([text(156), absent])),
    district: text(60),
    city: text(60),
    state: v.pipe(v.string(), v.trim(), v.toUpperCase(), v.regex(/^[A-Z]{2}$/)),
    postal_code: v.pipe(
      v.string(),
      v.transform((said) => withoutMask(said.trim(), 'postalCode')),
      v.regex(/^\d{8}$/),
    ),
  }),
  v.transform(({ postal_code: postalCode, ...rest }) => present({ ...rest, postalCode })),
);

const answer = v.object({
  cnpj: v.fallback(v.optional(v.string()), undefined),
  legal_name: text(300),
  address: v.nullish(v.unknown()),
});

/** Hears of an address that is left out: the names of the wrong members, never a value. Empty where the address as a whole is wrong. */
export type UnusableAddress = (members: readonly string[]) => void;

/** An address of another shape is left out; the name counts all the same. */
const usable = (said: unknown, onUnusable: UnusableAddress): EntryAddress | undefined => {
  if (said === undefined || said === null) return undefined;
  const parsed = v.safeParse(address, said);
  if (parsed.success) return parsed.output;
  onUnusable(parsed.issues.flatMap((issue) => v.getDotPath(issue) ?? []));
  return undefined;
};

/** A cache or a proxy before the registry may answer about another company. An answer need not say whom it is about. */
const isAbout = (cnpj: string, named: string | undefined): boolean =>
  named === undefined || named.toUpperCase().replace(/[^0-9A-Z]/g, '') === cnpj;

/**
 * `GET {url}/{cnpj}`. A POST waits for the answer, so the whole exchange, name service included, ends after `timeoutMs`. No redirect, no encoding,
 * at most `MAX_REGISTRY_BYTES`. Returns undefined for anything but a name; never rejects.
 */
export const findRegistryEntry = async (
  url: string,
  cnpj: string,
  timeoutMs: number,
  onUnusable: UnusableAddress = () => undefined,
): Promise<RegistryEntry | undefined> => {
  try {
    const body = await fetched(new URL(`${url}/${cnpj}`), AbortSignal.timeout(timeoutMs));
    const parsed = v.safeParse(answer, body === undefined ? undefined : JSON.parse(body));
    if (!parsed.success || !isAbout(cnpj, parsed.output.cnpj)) return undefined;
    return present({
      cnpj,
      legalName: parsed.output.legal_name,
      address: usable(parsed.output.address, onUnusable),
    });
  } catch {
    return undefined;
  }
};

/** The text of a 2xx answer; other answers are not read and give undefined. */
const fetched = (url: URL, signal: AbortSignal): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { accept: 'application/json', 'accept-encoding': 'identity' };
    const get = url.protocol === 'https:' ? getOverHttps : getOverHttp;
    const outgoing: ClientRequest = get(url, { headers, signal }, (incoming) => {
      read(incoming).then((body) => {
        // Stops an answer that was not read to its end.
        if (body === undefined) outgoing.destroy();
        resolve(body);
      }, reject);
    });
    outgoing.on('error', reject);
  });

const read = async (incoming: IncomingMessage): Promise<string | undefined> => {
  const { statusCode = 0, headers } = incoming;
  const isPlain = (headers['content-encoding'] ?? 'identity').trim().toLowerCase() === 'identity';
  if (statusCode < 200 || statusCode > 299 || !isPlain) return undefined;
  const body = await readUpTo(incoming, MAX_REGISTRY_BYTES);
  return body && new TextDecoder().decode(body);
};
