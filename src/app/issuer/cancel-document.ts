import type { InvoiceEvent, InvoiceEventData } from '../../domain/invoice/events.js';
import type { Cancellation, Invoice } from '../../domain/invoice/state.js';
import { buildCancellation } from '../../domain/ped-reg-evento/build-cancellation.js';
import type { IssuerDeps } from './deps.js';
import { signedForToday, storedOf } from './renewed-signature.js';

/** The signed request for the cancellation event, as an attempt records it. */
export type Document = Pick<
  InvoiceEventData<'CancellationAttempted'>,
  'requestId' | 'digest' | 'signatureMark' | 'signedRequestGzip'
>;

/** The same content as before, under the same event id; undefined when the key that sealed it is gone. */
export const storedRequest = async (
  owner: Invoice['facts'],
  events: readonly InvoiceEvent[],
  request: number,
  attempt: number,
  deps: IssuerDeps,
): Promise<Document | undefined> => {
  const sent = events.find(
    ({ type, data }) => type === 'CancellationAttempted' && data.request === request && data.attempt === attempt,
  );
  if (sent?.type !== 'CancellationAttempted')
    throw new Error('a cancellation attempt is known of whose event is not in the stream');
  const { requestId, digest, signatureMark, signedRequestGzip } = sent.data;
  if ([signedRequestGzip, digest].some((field: string | undefined) => field === undefined)) return undefined;
  const { signedGzip, ...about } = await signedForToday(
    { signedGzip: signedRequestGzip, digest, ...(signatureMark === undefined ? {} : { signatureMark }) },
    owner,
    deps,
  );
  return { requestId, ...about, signedRequestGzip: signedGzip };
};

/** Undefined without a certificate to sign with, or when the key that sealed the request is gone. */
export const newRequest = async (
  { facts }: Invoice,
  { request, reason, requestedAt }: Cancellation,
  accessKey: string,
  events: readonly InvoiceEvent[],
  deps: IssuerDeps,
): Promise<Document | undefined> => {
  const asked = events.find(({ type, data }) => type === 'CancellationRequested' && data.request === request);
  const identity = await deps.identityOf(facts);
  if (identity === undefined || asked?.type !== 'CancellationRequested') return undefined;
  const { description } = asked.data;
  if ((description as string | undefined) === undefined) return undefined;
  const built = buildCancellation({
    mode: facts.mode,
    companyId: facts.companyId,
    accessKey,
    reason,
    description,
    requestedAt,
  });
  const { signedGzip, ...about } = storedOf(await deps.signer.signPedRegEvento(built.xml, identity));
  return { requestId: built.id, ...about, signedRequestGzip: signedGzip };
};
