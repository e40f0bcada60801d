import type { IncomingMessage } from 'node:http';

type Body = { ok: true; value: unknown } | { ok: false; status: 400 | 413 };

/** Bytes of a request; a compressed document in base64 is far smaller. */
const MAX_BODY = 6 * 1024 * 1024;

/** Undefined for a body over the limit. */
type Bytes = Buffer | undefined;

const bodies = new WeakMap<IncomingMessage, Promise<Bytes>>();

/** The whole body, read once per request. Rejects only when the connection breaks before the end of the body. */
export const readBody = (request: IncomingMessage, maxBytes = MAX_BODY): Promise<Bytes> => {
  const reading = bodies.get(request) ?? read(request, maxBytes);
  bodies.set(request, reading);
  return reading;
};

/** The request's JSON. Rejects only when the connection breaks before the end of the body. */
export const readJson = async (request: IncomingMessage, maxBytes = MAX_BODY): Promise<Body> => {
  const bytes = await readBody(request, maxBytes);
  if (bytes === undefined) return { ok: false, status: 413 };
  try {
    return { ok: true, value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return { ok: false, status: 400 };
  }
};

const read = async (request: IncomingMessage, maxBytes: number): Promise<Bytes> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks);
};
