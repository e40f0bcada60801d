/** Chunks that each stream may have, whatever their size; after them the mean size counts. */
const FREE_CHUNKS = 1_000;
const MEAN_CHUNK_BYTES = 48;

/** A message that Node receives: each chunk is pushed into the stream while its packet is parsed. */
type Received = { push(chunk: Buffer | null, encoding?: BufferEncoding): boolean };

/**
 * Calls `onTooSmall` once, when the number of chunks is out of proportion to their bytes: Node makes several calls for each chunk, and 2 MB in chunks
 * of one byte keep the event loop busy for seconds. `pushLast` puts the chunk that is one too many into the stream, and what `onTooSmall` returns
 * tells Node whether to read on. Further chunks of the packet are dropped. Must be called before the first byte of the stream arrives.
 */
export const boundChunks = (stream: Received, onTooSmall: (pushLast: () => boolean) => boolean): void => {
  const push = stream.push.bind(stream);
  let chunks = 0;
  let bytes = 0;
  let stopped = false;
  stream.push = (chunk, encoding) => {
    if (chunk === null) return push(null);
    // Reading has stopped already: `false` would make Node stop it again for each chunk of the packet.
    if (stopped) return true;
    chunks += 1;
    bytes += chunk.length;
    if (chunks <= FREE_CHUNKS + bytes / MEAN_CHUNK_BYTES) return push(chunk, encoding);
    stopped = true;
    return onTooSmall(() => push(chunk, encoding));
  };
};

/** The code of the error for a stream in chunks that are smaller than any program sends on purpose. */
const CHUNKS_TOO_SMALL = 'response_chunks_too_small';

type Readable = Received & AsyncIterable<Buffer> & { destroy(error: Error): unknown };

/**
 * The whole of a stream of bytes; undefined, with the stream closed, as soon as it is longer than `maxBytes`. Rejects with `CHUNKS_TOO_SMALL`, and
 * closes the stream, when the number of chunks is out of proportion to their bytes. Must be called before the first byte of the stream arrives.
 */
export const readUpTo = async (stream: Readable, maxBytes: number): Promise<Buffer | undefined> => {
  boundChunks(stream, () => {
    stream.destroy(Object.assign(new Error('the chunks of the stream are too small'), { code: CHUNKS_TOO_SMALL }));
    return true;
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
