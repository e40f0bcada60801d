import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anchorFileName, anchorFileText } from '../app/anchors/anchor-file.js';
import { type AnchorDeps, anchorLog } from '../app/anchors/anchor-log.js';

export type Anchorer = AnchorDeps & {
  /** Drop folder for what operators publish; undefined: anchors stand in the log only. */
  folder: string | undefined;
  onAnchored?(anchor: { day: string; streams: number; events: number }): void;
};

/**
 * Anchors the log once a UTC day; to be called by one leader again and again; the rest of a day that is done costs nothing. A file that is missing is written again, one that stands is never touched.
 */
export const createAnchorer = (anchorer: Anchorer): ((signal?: AbortSignal) => Promise<void>) => {
  let doneDay = '';
  return async (signal) => {
    const day = anchorer.clock.now().slice(0, 10);
    if (day === doneDay) return;
    const anchor = await anchorLog(anchorer, signal);
    if (anchor === undefined) return;
    if (anchorer.folder !== undefined) {
      const text = anchorFileText(anchor, await anchorer.log.identity());
      await publish(anchorer.folder, anchorFileName(anchor.day), text);
    }
    doneDay = anchor.day;
    const { live, test } = anchor;
    anchorer.onAnchored?.({ day, streams: live.streams + test.streams, events: live.events + test.events });
  };
};

/** Whole or not at all: whoever collects the folder must never see half a file. */
const publish = async (folder: string, name: string, text: string): Promise<void> => {
  const file = join(folder, name);
  const stands = await access(file).then(
    () => true,
    () => false,
  );
  if (stands) return;
  await mkdir(folder, { recursive: true });
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
};
