import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bodyHashOf, fingerprintOf } from '../../src/app/event-store/hashes.js';
import { expandMarkers } from '../../src/domain/common/markers.js';
import { buildCancellation } from '../../src/domain/dps/build-cancellation.js';
import { buildDps } from '../../src/domain/dps/build-dps.js';
import type { InvoiceEventData } from '../../src/domain/invoice/events.js';

/** An event as a stolen log, backup or export shows it: without a key. */
export type StolenEvent = { stream: string; type: string; data: Record<string, unknown> };

/** What an attacker may know or try; each word is combined with all others. */
export type Dictionary = {
  descriptions: readonly string[];
  names: readonly string[];
  documents: readonly string[];
  cancelTexts: readonly string[];
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Every text that may be a SHA-256: hex, base64 or base64url, as hex. */
export const hashesIn = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])/g)].map(([hex]) => hex.toLowerCase()),
    ...[...text.matchAll(/(?<![\w+/-])[\w+/-]{43}=?(?![\w+/=-])/g)].map(([base64]) =>
      Buffer.from(base64, 'base64').toString('hex'),
    ),
  ]);

/** All files below a folder as text, unpacked where they are gzip. */
export const textsOf = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    names
      .filter((one) => one.isFile())
      .map(async ({ parentPath, name }) => {
        const bytes = await readFile(join(parentPath, name));
        return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8');
      }),
  );
};

/**
 * What a dictionary finds out about people by comparing hashes: each guess is written as the service would have it, hashed
 * without a key, and looked for among `hashes`. Everything else that a guess needs is readable in the events.
 */
export const guessBack = (
  events: readonly StolenEvent[],
  hashes: ReadonlySet<string>,
  dictionary: Dictionary,
): readonly string[] => {
  const found = new Set<string>();
  const tryOut = (what: string, text: string | Buffer): void => {
    if (hashes.has((typeof text === 'string' ? digest(text) : text).toString('hex'))) found.add(what);
  };
  for (const word of Object.values(dictionary).flat()) for (const form of formsOf(word)) tryOut(word, form);
  for (const { data: accepted } of events.filter(({ type }) => type === 'InvoiceAccepted')) {
    const facts = accepted as InvoiceEventData<'InvoiceAccepted'>;
    const attempts = events.filter(
      ({ stream, type }) => stream.includes(facts.invoiceId) && type === 'IssuanceAttempted',
    );
    for (const description of dictionary.descriptions) {
      const { mode, companyId, amountInCents } = facts;
      tryOut(description, Buffer.from(fingerprintOf(mode, companyId, amountInCents, description), 'hex'));
      for (const name of dictionary.names)
        for (const document of dictionary.documents) {
          const what = `${document} of ${name}: ${description}`;
          for (const body of bodiesOf(facts, { description, name, document }))
            tryOut(what, Buffer.from(bodyHashOf(body), 'hex'));
          for (const { data } of attempts)
            tryOut(
              what,
              dpsDigestOf(facts, data as { series: string; number: number }, { description, name, document }),
            );
        }
    }
  }
  for (const { stream, data } of events.filter(({ type }) => type === 'CancellationRequested'))
    for (const text of dictionary.cancelTexts)
      tryOut(
        text,
        requestDigestOf(
          events.filter((one) => one.stream === stream),
          data,
          text,
        ),
      );
  return [...found];
};

const formsOf = (word: string): readonly string[] => [
  word,
  JSON.stringify(word),
  word.toUpperCase(),
  `privacy|${word}`,
];

type Guess = { description: string; name: string; document: string };

/** As clients send it: the reference beside it or not. */
const bodiesOf = (
  { amountInCents, reference }: InvoiceEventData<'InvoiceAccepted'>,
  { description, name, document }: Guess,
): readonly object[] => {
  const body = { amount_in_cents: amountInCents, description, customer: { document, name } };
  return [body, { ...body, reference }];
};

/** The DPS is a pure function of the acceptance and its number, so an attacker who guesses the sealed fields can build it again. */
const dpsDigestOf = (
  facts: InvoiceEventData<'InvoiceAccepted'>,
  { series, number }: { series: string; number: number },
  { description, name, document }: Guess,
): Buffer => {
  const customer = { type: 'br' as const, document, name };
  const accepted = { ...facts, description: expandMarkers(description, facts.acceptedAt), customer };
  return signedDigestOf(buildDps({ mode: facts.mode, series, number, accepted, currencyCode: () => undefined }).xml);
};

const requestDigestOf = (
  stream: readonly StolenEvent[],
  asked: Record<string, unknown>,
  description: string,
): Buffer => {
  const accepted = stream.find(({ type }) => type === 'InvoiceAccepted')?.data as InvoiceEventData<'InvoiceAccepted'>;
  const authorized = stream.find(({ type }) => type === 'Authorized')?.data as InvoiceEventData<'Authorized'>;
  const { reason, requestedAt } = asked as InvoiceEventData<'CancellationRequested'>;
  const { mode, companyId } = accepted;
  const { accessKey } = authorized;
  return signedDigestOf(buildCancellation({ mode, companyId, accessKey, reason, description, requestedAt }).xml);
};

/** SHA-256 over the signed child as C14N detaches it: with the namespace of its root. */
const signedDigestOf = (xml: string): Buffer => {
  const [, namespace, child] = /^<\w+ xmlns="([^"]+)"[^>]*>(<.*)<\/\w+>$/s.exec(xml) ?? [];
  if (namespace === undefined || child === undefined) throw new Error('the document has another shape');
  return digest(child.replace(/^<(\w+) /, `<$1 xmlns="${namespace}" `));
};
