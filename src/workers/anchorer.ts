import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type AnchorDeps, anchorLog } from '../app/audit/anchor-log.js';
import { anchorFileName, anchorFileText } from '../app/audit/published-anchors.js';
import { utcDay } from '../domain/common/time.js';
import { writeWhole } from '../lib/write-whole.js';

type Anchorer = AnchorDeps & {
  /** Folder for the files that operators publish. Undefined: anchors are in the log only. */
  folder: string | undefined;
  onAnchored?(anchor: { day: string; streams: number; events: number }): void;
};

/**
 * Returns a function that anchors the log once a UTC day. One leader calls it repeatedly; calls after the first success of a day do nothing. A
 * missing anchor file is written again. An existing file is never changed.
 */
export const createAnchorer = (anchorer: Anchorer): ((signal?: AbortSignal) => Promise<void>) => {
  let doneDay = '';
  return async (signal) => {
    const day = utcDay(anchorer.clock.now());
    if (day === doneDay) return;
    const anchor = await anchorLog(anchorer, signal);
    if (anchor === undefined) return;
    if (anchorer.folder !== undefined) {
      const text = anchorFileText(anchor, await anchorer.log.identity());
      await writeOnce(anchorer.folder, anchorFileName(anchor.day), text);
    }
    doneDay = anchor.day;
    const { live, test } = anchor;
    anchorer.onAnchored?.({ day: anchor.day, streams: live.streams + test.streams, events: live.events + test.events });
  };
};

/** An anchor never changes, so an existing file is left as it is. Programs that collect the folder never see half a file. */
const writeOnce = async (folder: string, name: string, text: string): Promise<void> => {
  const file = join(folder, name);
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) return;
  await mkdir(folder, { recursive: true });
  await writeWhole(file, text);
};
