import { type AccessKey, isAccessKey } from '../../domain/common/access-key.js';
import type { Distribution, DistributionAnswer } from '../../ports/distribution.js';
import { gunzipBase64 } from '../../xml/packing.js';
import { type AdnOptions, createAdnCalls } from './adn.js';
import { type Exchange, RESPONSE_TOO_LARGE } from './exchange.js';
import { type JsonBody, mayEventCancel, readJson, saysNothingFound, sharedDocumentsOf, textOf } from './responses.js';

/** An answer holds up to 50 notes of some 5 kB each. */
const MAX_BYTES = 1024 * 1024;

/** Four times what an answer holds. Each item may be unpacked in the event loop, so their number bounds the time that an answer takes there. */
const MAX_ITEMS = 200;
const TOO_MANY = 'too_many_items';

/** The distribution of the ADN over mutual TLS (docs/national-system.md#distribution). `close` drops the connections. */
export const createDistribution = (options: AdnOptions): Distribution & { close(): void } => {
  const calls = createAdnCalls(options, MAX_BYTES);
  return {
    after: async (caller, nsu) => {
      // Without the CNPJ the ADN answers for the certificate's establishment, and a head office's certificate serves branches too.
      const ask = (batch: boolean): Promise<Exchange> =>
        calls.get(caller, `/DFe/${nsu}?cnpjConsulta=${caller.companyId}&lote=${batch}`);
      try {
        const answer = await ask(true);
        const read = readDistribution(nsu, answer);
        const isTooLong =
          read.kind === 'inconclusive' && (read.reason === RESPONSE_TOO_LARGE || read.reason === TOO_MANY);
        return isTooLong ? readSingle(nsu, await ask(false)) : read;
      } catch {
        return inconclusive('unreadable');
      }
    },
    close: calls.close,
  };
};

/**
 * Judges one answer. The end of the queue is a JSON 404 with E2220; another 404 proves nothing, because a wrong path answers so too. Keys are read
 * in any casing. A document is read only for the key of its note, where the item lacks that key: what else it says is asked of the authorizer. An
 * item without a number counts when another one of the batch has a number, from which the queue is read on.
 */
export const readDistribution = (nsu: number, answer: Exchange): DistributionAnswer => {
  if (answer.kind !== 'answered') return inconclusive(answer.reason);
  const body = readJson(answer.contentType, answer.body);
  if (answer.status === 404 && body !== undefined && saysNothingFound(body)) return { kind: 'end' };
  if (answer.status !== 200) return inconclusive(`http_${answer.status}`);
  if (body === undefined) return inconclusive('no_json');
  const documents = sharedDocumentsOf(body);
  if (documents.length > MAX_ITEMS) return inconclusive(TOO_MANY);
  if (documents.length === 0) return saysNothingFound(body) ? { kind: 'end' } : inconclusive('not_the_api');
  let last = nsu;
  const canceled: AccessKey[] = [];
  for (const document of documents) {
    const number = document?.nsu ?? undefined;
    if (document === undefined || (number !== undefined && !isNsu(number))) return inconclusive('unreadable');
    last = Math.max(last, number ?? nsu);
    const key = mayCancel(document) ? keyOf(document) : undefined;
    if (key !== undefined && isAccessKey(key)) canceled.push(key);
  }
  // Documents up to that number would never be asked for.
  if (last - nsu > FURTHEST) return inconclusive('nsu_too_far');
  // A queue that does not go on would be asked without end.
  return last > nsu ? { kind: 'documents', last, canceled } : inconclusive('no_progress');
};

/**
 * How far the numbers of one answer may be from the number that was asked for. No source says whether a company's numbers follow each other or count
 * the documents of the whole country. So the bound is more than the country makes in centuries, with billions of notes and events a year (ADR 50).
 */
const FURTHEST = 1_000_000_000_000;

/**
 * Judges the answer without the batch, which a batch that was too long calls for. A queue with such a batch has not ended, whatever this answer says:
 * no source tells which document it holds.
 */
export const readSingle = (nsu: number, answer: Exchange): DistributionAnswer => {
  const read = readDistribution(nsu, answer);
  return read.kind === 'end' ? inconclusive('no_progress') : read;
};

const inconclusive = (reason: string): DistributionAnswer => ({ kind: 'inconclusive', reason });

const isNsu = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

/** Events have a few kilobytes; a longer one is not read, because each answer is read in the event loop. */
const MAX_EVENT_BYTES = 32 * 1024;

/** The key of the note of an event. `ChaveAcesso` may be null (docs/national-system.md#distribution); the event names its note too. */
const keyOf = (event: JsonBody): string | undefined => {
  const key = textOf(event, 'chaveAcesso');
  if (key !== undefined) return key;
  const unpacked = gunzipBase64(textOf(event, 'arquivoXml') ?? '', MAX_EVENT_BYTES);
  return unpacked.ok ? /<chNFSe>([0-9A-Z]{50})<\/chNFSe>/.exec(unpacked.bytes.toString('latin1'))?.[1] : undefined;
};

const mayCancel = (document: JsonBody): boolean =>
  textOf(document, 'tipoDocumento') === 'EVENTO' && mayEventCancel(document);
