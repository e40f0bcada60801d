/** Chunks that each stream may have, whatever their size; after them the mean size counts. */
const FREE_CHUNKS = 1_000;
const MEAN_CHUNK_BYTES = 48;

/** The code of the error for a stream in chunks that are smaller than any program sends on purpose. */
const CHUNKS_TOO_SMALL = 'response_chunks_too_small';

/** An answer that Node receives: each chunk is pushed into the stream while its packet is parsed. */
type Received = AsyncIterable<Buffer> & {
  push(chunk: Buffer | null, encoding?: BufferEncoding): boolean;
  destroy(error: Error): unknown;
};

/**
 * The whole of a stream of bytes; undefined, with the stream closed, as soon as it is longer than `maxBytes`. Rejects with `CHUNKS_TOO_SMALL`, and
 * closes the stream, when the number of chunks is out of proportion to their bytes. Must be called before the first byte of the stream arrives.
 */
export const readUpTo = async (stream: Received, maxBytes: number): Promise<Buffer | undefined> => {
  boundChunks(stream);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Node makes several calls for each chunk: 2 MB in chunks of one byte keep the event loop busy for seconds. */
const boundChunks = (stream: Received): void => {
  const push = stream.push.bind(stream);
  let chunks = 0;
  let bytes = 0;
  let stopped = false;
  stream.push = (chunk, encoding) => {
    if (chunk === null) return push(null);
    // The parser still gives the other chunks of its packet.
    if (stopped) return true;
    chunks += 1;
    bytes += chunk.length;
    if (chunks <= FREE_CHUNKS + bytes / MEAN_CHUNK_BYTES) return push(chunk, encoding);
    stopped = true;
    stream.destroy(Object.assign(new Error('the chunks of the stream are too small'), { code: CHUNKS_TOO_SMALL }));
    return true;
  };
};
