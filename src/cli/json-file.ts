import { readFile } from 'node:fs/promises';

/** What an operator's file holds; the problem is one line for a person. */
export const readJsonFile = async (file: string): Promise<{ value: unknown } | { problem: string }> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return { problem: `${file} cannot be read` };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: `${file} is not JSON` };
  }
};
