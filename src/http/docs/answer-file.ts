import type { Context } from 'hono';
import { commonHeaders, type HeaderRecord } from '../answer.js';
import type { Call } from '../call.js';
import type { DocsFile } from './files.js';

/** 200 with the form that the client takes, or 304 for one that it has (RFC 9110 sections 8.8.3 and 13.1.2). */
export const answerFile = (c: Context, call: Call, file: DocsFile): Response => {
  const zipped = takesGzip(c.req.header('accept-encoding') ?? '');
  const etag = `"${file.version}${zipped ? '-gzip' : ''}"`;
  const headers: HeaderRecord = {
    ...commonHeaders(call),
    ETag: etag,
    Vary: 'Accept-Encoding',
    // A path that names this very content will never have another.
    'Cache-Control': c.req.query('v') === file.version ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  if (isAmong(c.req.header('if-none-match') ?? '', etag)) return new Response(null, { status: 304, headers });
  headers['Content-Type'] = file.contentType;
  if (zipped) headers['Content-Encoding'] = 'gzip';
  return new Response(zipped ? file.gzip : file.plain, { status: 200, headers });
};

/** Swagger UI draws its signs from `data:`. It sets styles by script only, element by element, which needs no leave. */
const POLICY =
  "default-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

const takesGzip = (acceptEncoding: string): boolean =>
  acceptEncoding.split(',').some((part) => {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });

const isAmong = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
