import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** The values of a file of JSON lines, one a line. */
export const readLines = async <T>(file: string): Promise<readonly T[]> => {
  const values: T[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY }))
    if (line !== '') values.push(JSON.parse(line) as T);
  return values;
};
