import type { IncomingMessage } from 'node:http';

export type Body = { ok: true; value: unknown } | { ok: false; status: 400 | 413 };

/** A compressed document in base64 stays far below this. */
const MAX_BODY = 6 * 1024 * 1024;

/** The request's JSON. Rejects only when the connection breaks before the end of the body. */
export const readJson = async (request: IncomingMessage, maxBytes = MAX_BODY): Promise<Body> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
  }
  if (length > maxBytes) return { ok: false, status: 413 };
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { ok: false, status: 400 };
  }
};
