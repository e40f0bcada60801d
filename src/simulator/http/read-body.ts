import type { IncomingMessage } from 'node:http';

type Body = { ok: true; value: unknown } | { ok: false; status: 400 | 413 };

/** The whole body; undefined for a body over the limit. Rejects only when the connection breaks before the end of the body. */
export const readBody = async (request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks);
};

/** The JSON of a body that `readBody` has read. */
export const jsonOf = (body: Buffer | undefined): Body => {
  if (body === undefined) return { ok: false, status: 413 };
  try {
    return { ok: true, value: JSON.parse(body.toString('utf8')) };
  } catch {
    return { ok: false, status: 400 };
  }
};
