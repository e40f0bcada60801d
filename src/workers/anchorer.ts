import { join } from 'node:path';
import { type AnchorDeps, anchorLog, type RecordedAnchor } from '../app/audit/anchor-log.js';
import { anchorFileName, anchorFileText, isFileOf, secondFileName } from '../app/audit/published-anchors.js';
import { utcDay } from '../domain/common/time.js';
import { makeFolders, readIfThere, writeWhole } from '../lib/files.js';

/** The log has the anchor, and the folder of anchors took no file of the day. */
export class AnchorNotPublished extends Error {
  override readonly name = 'AnchorNotPublished';
  readonly file: string;

  constructor(file: string, cause: unknown) {
    super(`${file} could not be written`, { cause });
    this.file = file;
  }
}

type Anchorer = AnchorDeps & {
  /** Folder for the files that operators publish. Undefined: anchors are in the log only. */
  folder: string | undefined;
  onAnchored?(anchor: { day: string; streams: number; events: number }): void;
  /** The file of the day was written, and was missing later. */
  onPublishedAgain?(found: { day: string; file: string }): void;
  /** `file` was written before and holds another anchor of the day, as after a restore; the anchor of the log is in `second`. */
  onContradicted?(found: { day: string; file: string; second: string }): void;
};

/**
 * Returns a function that anchors the log once a UTC day. One leader calls it repeatedly; calls after the first success of a day only write the file
 * of the day again where it is missing. An existing file is never changed: an anchor that contradicts the file gets a second one. Rejects with
 * `AnchorNotPublished` where the folder takes no file or cannot be read.
 */
export const createAnchorer = (anchorer: Anchorer): ((signal?: AbortSignal) => Promise<void>) => {
  let done: { day: string; text: string } | undefined;
  return async (signal) => {
    const { folder } = anchorer;
    const into = async (folder: string, day: string, write: () => Promise<void>): Promise<void> => {
      await write().catch((cause: unknown) => {
        throw new AnchorNotPublished(join(folder, anchorFileName(day)), cause);
      });
    };
    if (done?.day === utcDay(anchorer.clock.now())) {
      const { day, text } = done;
      if (folder !== undefined) await into(folder, day, () => publishAgain(day, text, folder, anchorer));
      return;
    }
    const anchor = await anchorLog(anchorer, signal);
    if (anchor === undefined) return;
    const text = anchorFileText(anchor, await anchorer.log.identity());
    if (folder !== undefined) await into(folder, anchor.day, () => publish(anchor, text, folder, anchorer));
    done = { day: anchor.day, text };
    const { live, test } = anchor;
    anchorer.onAnchored?.({ day: anchor.day, streams: live.streams + test.streams, events: live.events + test.events });
  };
};

/** For a folder that was lost or unmounted meanwhile. */
const publishAgain = async (
  day: string,
  text: string,
  folder: string,
  { onPublishedAgain }: Pick<Anchorer, 'onPublishedAgain'>,
): Promise<void> => {
  const file = anchorFileName(day);
  if ((await readIfThere(join(folder, file))) !== undefined) return;
  await makeFolders(folder);
  await writeWhole(join(folder, file), text);
  onPublishedAgain?.({ day, file });
};

/** Programs that collect the folder never see half a file. */
const publish = async (
  anchor: RecordedAnchor,
  text: string,
  folder: string,
  { onContradicted }: Pick<Anchorer, 'onContradicted'>,
): Promise<void> => {
  const file = anchorFileName(anchor.day);
  const there = await readIfThere(join(folder, file));
  if (there !== undefined && isFileOf(anchor, there)) return;
  await makeFolders(folder);
  if (there === undefined) return await writeWhole(join(folder, file), text);
  const second = secondFileName(anchor);
  if ((await readIfThere(join(folder, second))) === undefined) await writeWhole(join(folder, second), text);
  onContradicted?.({ day: anchor.day, file, second });
};
