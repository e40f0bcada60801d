import type { Context } from 'hono';
import type { Download } from '../../app/download/download.js';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import { type InvoiceAddress, type InvoiceId, parseInvoiceId, publicInvoiceId } from '../../domain/common/ids.js';
import { epochMs } from '../../domain/common/time.js';
import { type Authentication, type Caller, READ } from '../access/authentication.js';
import type { SlidingLimit } from '../access/sliding-limit.js';
import { commonHeaders, type HeaderRecord, refuse } from '../answer.js';
import type { Call } from '../call.js';
import type { HttpDeps, RateLimits } from '../deps.js';
import type { Handler } from '../endpoint.js';
import { faultRefusal } from '../faults.js';
import { holdBack } from '../in-hand.js';

type DownloadFormat = {
  extension: 'pdf' | 'xml';
  contentType: string;
  load(address: InvoiceAddress): Promise<Download>;
};

/**
 * How often the links of one invoice may be opened in a minute, PDF and XML together: far more than people and their browsers need. An operator who
 * raises the reads of a key raises this number too.
 */
export const linkOpeningsPerMinute = ({ read }: RateLimits): number => Math.max(60, Math.floor(read / 5));

/** The two ways to a document: a key with its quota, or a link of the invoice, which opens without a key a limited number of times. */
type DownloadAccess = { authentication: Authentication; openings: SlidingLimit };

/** GET /v1/nfse/{id}/pdf and /xml (PDF-1 to PDF-6, XML-1 to XML-5): 200 with the bytes, or 400, 404, 409. Ranges are not served. */
export const downloadRoute =
  (deps: HttpDeps, access: DownloadAccess, format: DownloadFormat): Handler =>
  async (c, call) => {
    const entry = await accessOf(c, call, deps, access);
    if ('refused' in entry) return refuse(call, entry.refused);
    call.invoiceId = entry.address.invoiceId;
    const download = await format.load(entry.address).catch(async (error: unknown) => {
      if (!deps.isOverloaded(error)) throw error;
      call.giveBack?.();
      call.isUncounted = true;
      await holdBack(c, deps.delayFault?.(error));
      return {
        refused: {
          ...faultRefusal(error, call.requestId, deps),
          message: overloadMessage(deps.isOwnOverload(error), format),
        },
      };
    });
    return 'refused' in download ? refuse(call, download.refused) : file(call, entry.address, download.bytes, format);
  };

/**
 * 32 is the number of PDFs of one company that the renderer takes (docs/architecture.md#the-pdf). The other bounds are met by a company that keeps to
 * this number, too.
 */
const overloadMessage = (isOwn: boolean, { extension }: DownloadFormat): string => {
  const end = 'guarde os segundos de Retry-After e repita a requisição; esta recusa não gastou cota.';
  if (!isOwn) return `Os downloads estão demorando no momento. A${end}`;
  const fewer = extension === 'pdf' ? 'Peça no máximo 32 PDFs de cada vez' : 'Peça menos de cada vez';
  return `Há downloads demais ao mesmo tempo. ${fewer}, a${end}`;
};

type Entry = { address: InvoiceAddress } | { refused: Refusal };

/** A browser that opens a link knows nothing of keys. Says the same of every bad link, for it must not tell which invoices exist. */
const BAD_LINK =
  'Este link de download venceu ou não é válido: ele abre por 15 minutos. Consulte a nota de novo e use o link novo.';

/**
 * A valid token suffices whatever the key, and a valid key whatever the token (PDF-2). When the key alone would suffice, its quota is spent;
 * access by token shows no quota. A key of another company or mode than the token's is ignored.
 */
const accessOf = async (
  c: Context,
  call: Call,
  deps: HttpDeps,
  { authentication, openings }: DownloadAccess,
): Promise<Entry> => {
  const invoiceId = parseInvoiceId(c.req.param('id') ?? '');
  const token = c.req.query('t');
  const opened =
    token === undefined || invoiceId === undefined
      ? undefined
      : deps.downloadTokens.check(token, invoiceId, deps.clock.now());
  const authorization = c.req.header('authorization');
  const admitted = await authentication.authenticate(authorization, READ, call);
  if (opened === undefined && token !== undefined && authorization === undefined)
    return { refused: { code: 'unauthorized', message: BAD_LINK } };
  if (opened === undefined)
    return 'refused' in admitted ? admitted : accessByKey(admitted.caller, call, authentication, invoiceId);
  if ('refused' in admitted || !isOwner(admitted.caller, opened))
    return await accessByToken(opened, call, deps, openings);
  const byKey = accessByKey(admitted.caller, call, authentication, invoiceId);
  return 'refused' in byKey ? await accessByToken(opened, call, deps, openings) : byKey;
};

const isOwner = ({ mode, companyId }: Caller, address: InvoiceAddress): boolean =>
  mode === address.mode && companyId === address.companyId;

const accessByKey = (
  caller: Caller,
  call: Call,
  authentication: Authentication,
  invoiceId: InvoiceId | undefined,
): Entry => {
  const over = authentication.takeSlot(caller, READ, call);
  if (over !== undefined) return { refused: over };
  if (invoiceId === undefined) return { refused: { code: 'invalid_id' } };
  const { mode, companyId } = caller;
  return { address: { mode, companyId, invoiceId } };
};

const accessByToken = async (
  address: InvoiceAddress,
  call: Call,
  deps: HttpDeps,
  openings: SlidingLimit,
): Promise<Entry> => {
  delete call.rate;
  call.mode = address.mode;
  if (!(await deps.companyEnabled(address.companyId))) return { refused: { code: 'feature_not_enabled' } };
  const nowMs = epochMs(deps.clock.now());
  const { retryAfterSeconds } = openings.take(address.invoiceId, nowMs);
  if (retryAfterSeconds !== undefined)
    return { refused: { code: 'rate_limit_exceeded', message: OPENED_TOO_OFTEN, retryAfterSeconds } };
  call.giveBack = () => openings.giveBack(address.invoiceId, nowMs);
  return { address };
};

const OPENED_TOO_OFTEN =
  'Os links de download desta nota foram abertos vezes demais em um minuto. Aguarde os segundos de Retry-After e abra o link de novo.';

const file = (
  call: Call,
  { invoiceId }: InvoiceAddress,
  bytes: Buffer,
  { contentType, extension }: DownloadFormat,
): Response => {
  const headers: HeaderRecord = {
    ...commonHeaders(call),
    'Content-Type': contentType,
    'Content-Length': String(bytes.byteLength),
    'Content-Disposition': `attachment; filename="${publicInvoiceId(invoiceId)}.${extension}"`,
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
    'Accept-Ranges': 'none',
  };
  return new Response(new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength), {
    status: 200,
    headers,
  });
};
