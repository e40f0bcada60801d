import type { Context } from 'hono';
import type { Download } from '../../app/download/download.js';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { type InvoiceAddress, type InvoiceId, parseInvoiceId, publicInvoiceId } from '../../domain/shared/ids.js';
import { epochMs } from '../../domain/shared/time.js';
import { type Caller, type KeyGate, READ } from '../access/gate.js';
import type { SlidingLimit } from '../access/rate-limiter.js';
import { commonHeaders, type HeaderRecord, refuse } from '../answer.js';
import type { Call } from '../call.js';
import type { HttpDeps } from '../deps.js';
import type { Handler } from '../endpoint.js';

export type DownloadFormat = {
  extension: 'pdf' | 'xml';
  contentType: string;
  load(address: InvoiceAddress): Promise<Download>;
};

/** Of one invoice, by its links, PDF and XML together: far more than people and their browsers open. */
export const LINK_OPENINGS_PER_MINUTE = 60;

/** The two ways in: a key with its quota, and the links of an invoice, which whoever has them may open so often only. */
export type Entrance = { gate: KeyGate; openings: SlidingLimit };

/** GET /v1/nfse/{id}/pdf and /xml (spec "PDF", "authorized XML"): 200 with the bytes, or 400, 404, 409. Never a range. */
export const downloadRoute =
  (deps: HttpDeps, entrance: Entrance, format: DownloadFormat): Handler =>
  async (c, call) => {
    const entry = await enter(c, call, deps, entrance);
    if ('refused' in entry) return refuse(call, entry.refused);
    call.invoiceId = entry.address.invoiceId;
    const download = await format.load(entry.address);
    return 'refused' in download ? refuse(call, download.refused) : file(call, entry.address, download.bytes, format);
  };

type Entry = { address: InvoiceAddress } | { refused: Refusal };

/**
 * A good token suffices, whatever key comes with it; a good key suffices, whatever token (reading 22). The quota is spent
 * when the key alone would have opened the door; a token's door shows no quota (reading 55). Beside the token of another
 * company or mode a key counts for nothing.
 */
const enter = async (c: Context, call: Call, deps: HttpDeps, { gate, openings }: Entrance): Promise<Entry> => {
  const invoiceId = parseInvoiceId(c.req.param('id') ?? '');
  const token = c.req.query('t');
  const opened =
    token === undefined || invoiceId === undefined
      ? undefined
      : deps.downloadTokens.check(token, invoiceId, deps.clock.now());
  const admitted = await gate.admit(c.req.header('authorization'), READ, call);
  if (opened === undefined)
    return 'refused' in admitted ? admitted : enterByKey(admitted.caller, call, gate, invoiceId);
  if ('refused' in admitted || !isOwner(admitted.caller, opened))
    return await enterByToken(opened, call, deps, openings);
  const byKey = enterByKey(admitted.caller, call, gate, invoiceId);
  return 'refused' in byKey ? await enterByToken(opened, call, deps, openings) : byKey;
};

const isOwner = ({ mode, companyId }: Caller, address: InvoiceAddress): boolean =>
  mode === address.mode && companyId === address.companyId;

const enterByKey = (caller: Caller, call: Call, gate: KeyGate, invoiceId: InvoiceId | undefined): Entry => {
  const over = gate.spend(caller, READ, call);
  if (over !== undefined) return { refused: over };
  if (invoiceId === undefined) return { refused: { code: 'invalid_id' } };
  const { mode, companyId } = caller;
  return { address: { mode, companyId, invoiceId } };
};

const enterByToken = async (
  address: InvoiceAddress,
  call: Call,
  deps: HttpDeps,
  openings: SlidingLimit,
): Promise<Entry> => {
  delete call.rate;
  call.mode = address.mode;
  if (!(await deps.companyEnabled(address.companyId))) return { refused: { code: 'feature_not_enabled' } };
  const { retryAfterSeconds } = openings.take(address.invoiceId, epochMs(deps.clock.now()));
  if (retryAfterSeconds === undefined) return { address };
  return { refused: { code: 'rate_limit_exceeded', message: OPENED_TOO_OFTEN, retryAfterSeconds } };
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
