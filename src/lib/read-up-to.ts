/** The whole of a stream of bytes; undefined, with the stream closed, as soon as it is longer than `maxBytes`. */
export const readUpTo = async (stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
