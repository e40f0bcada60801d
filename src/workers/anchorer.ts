import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AnchorDeps, anchorLog, type RecordedAnchor } from '../app/audit/anchor-log.js';
import { anchorFileName, anchorFileText, isFileOf, secondFileName } from '../app/audit/published-anchors.js';
import { utcDay } from '../domain/common/time.js';
import { errorCode } from '../lib/error-code.js';
import { makeFolders } from '../lib/make-folders.js';
import { writeWhole } from '../lib/write-whole.js';

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
  /** `file` was written before and holds another anchor of the day, as after a restore; the anchor of the log is in `second`. */
  onContradicted?(found: { day: string; file: string; second: string }): void;
};

/**
 * Returns a function that anchors the log once a UTC day. One leader calls it repeatedly; calls after the first success of a day do nothing. A
 * missing anchor file is written again. An existing file is never changed: an anchor that contradicts the file gets a second one. Rejects with
 * `AnchorNotPublished` where the folder takes no file.
 */
export const createAnchorer = (anchorer: Anchorer): ((signal?: AbortSignal) => Promise<void>) => {
  let doneDay = '';
  return async (signal) => {
    const day = utcDay(anchorer.clock.now());
    if (day === doneDay) return;
    const anchor = await anchorLog(anchorer, signal);
    if (anchor === undefined) return;
    const { folder } = anchorer;
    if (folder !== undefined) {
      const text = anchorFileText(anchor, await anchorer.log.identity());
      await publish(anchor, text, folder, anchorer).catch((cause: unknown) => {
        throw new AnchorNotPublished(join(folder, anchorFileName(anchor.day)), cause);
      });
    }
    doneDay = anchor.day;
    const { live, test } = anchor;
    anchorer.onAnchored?.({ day: anchor.day, streams: live.streams + test.streams, events: live.events + test.events });
  };
};

/** Programs that collect the folder never see half a file. */
const publish = async (
  anchor: RecordedAnchor,
  text: string,
  folder: string,
  { onContradicted }: Pick<Anchorer, 'onContradicted'>,
): Promise<void> => {
  const file = anchorFileName(anchor.day);
  const there = await textOf(join(folder, file));
  if (there !== undefined && isFileOf(anchor, there)) return;
  await makeFolders(folder);
  if (there === undefined) return await writeWhole(join(folder, file), text);
  const second = secondFileName(anchor);
  if ((await textOf(join(folder, second))) === undefined) await writeWhole(join(folder, second), text);
  onContradicted?.({ day: anchor.day, file, second });
};

/** Undefined for a file that is not there. */
const textOf = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};
