import { boundChunks } from './bound-chunks.js';

/** The code of the error for a stream in chunks that are smaller than any program sends on purpose. */
const CHUNKS_TOO_SMALL = 'response_chunks_too_small';

type Received = AsyncIterable<Buffer> & {
  push(chunk: Buffer | null, encoding?: BufferEncoding): boolean;
  destroy(error: Error): unknown;
};

/**
 * The whole of a stream of bytes; undefined, with the stream closed, as soon as it is longer than `maxBytes`. Rejects with `CHUNKS_TOO_SMALL`, and
 * closes the stream, when the number of chunks is out of proportion to their bytes. Must be called before the first byte of the stream arrives.
 */
export const readUpTo = async (stream: Received, maxBytes: number): Promise<Buffer | undefined> => {
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
