import { draftExport, removeEarlierDrafts } from '../../src/cli/export-file.js';

/** Writes one file as `nfse events export` does: removes the drafts of earlier exports, then makes a draft and puts it in place of the file. */
export const writeExport = async (file: string, chunks: AsyncIterable<string>, signal?: AbortSignal): Promise<void> => {
  await removeEarlierDrafts(file);
  const draft = await draftExport(file, chunks, signal);
  await draft.put().finally(draft.discard);
};
