import { isAccessKey, isKeyOfEmitter } from '../../domain/common/access-key.js';
import { DAY_MS, epochMs, type Instant } from '../../domain/common/time.js';
import type { AuthorizedNote } from '../../ports/authorizer.js';
import { type JsonBody, processedMsOf, textOf } from './responses.js';

/** `heardAt`: when the answer had come, by our clock. Without it only the time in the answer counts. */
type Question = { dpsId: string; heardAt?: Instant | undefined };

/** Clocks differ by minutes. A real note must pass whatever the clocks show, and a day more or less in `dhProc` harms nothing. */
const TOLERATED_MS = 2 * DAY_MS;

/**
 * Whether Sefin can have made the note of this DPS. Only what holds for every real note is compared: the key names the emitter of the DPS and is the
 * key of the answer, and `dhProc` is neither before `dhEmi` (E0008) nor after the answer. Our clock may be wrong, and so may the time in the answer,
 * so `dhProc` is too late only when it is after both.
 */
export const isNoteOfDps = (note: AuthorizedNote, body: JsonBody, { dpsId, heardAt }: Question): boolean => {
  const { accessKey, authorizedAt, emittedAt } = note;
  const named = textOf(body, 'chaveAcesso') ?? '';
  if (!isKeyOfEmitter(accessKey, dpsId) || (isAccessKey(named) && named !== accessKey)) return false;
  const madeMs = epochMs(authorizedAt);
  const heardMs = [heardAt === undefined ? undefined : epochMs(heardAt), processedMsOf(body)].filter(
    (ms) => ms !== undefined,
  );
  const isTooEarly = emittedAt !== undefined && madeMs < epochMs(emittedAt) - TOLERATED_MS;
  const isTooLate = heardMs.length > 0 && heardMs.every((ms) => madeMs > ms + TOLERATED_MS);
  return !isTooEarly && !isTooLate;
};
