import { type CancelingEvent, cancelingEvents } from '../../domain/common/access-key.js';
import { EVENT_EXISTS } from '../../domain/common/authorizer-code.js';
import type { AuthorizerError } from './responses.js';

/** `xDesc` of the events that cancel a note, in the letters that `plain` leaves (docs/national-system.md#event-types). */
const NAMES: Readonly<Record<CancelingEvent, string>> = {
  '101101': 'cancelamento de nfs e',
  '105102': 'cancelamento de nfs e por substituicao',
  '105104': 'cancelamento de nfs e deferido por analise fiscal',
  '305101': 'cancelamento de nfs e por oficio',
};

/**
 * The event that cancels the note, as an E0840 names the event in the way (docs/national-system.md#e0840). Undefined when the text names another
 * event or cannot be read.
 */
export const namedCancelingEvent = (errors: readonly AuthorizerError[]): CancelingEvent | undefined => {
  const names = errors.flatMap(({ code, text }) => (code === EVENT_EXISTS ? [nameIn(text)] : []));
  return cancelingEvents.find((type) => names.includes(NAMES[type]));
};

/** The words of the official text before the name and after it. The request has the words before the name too, so the last ones count. */
const BEFORE = 'o evento de ';
const AFTER = ' ja esta vinculado';

const nameIn = (text: string): string | undefined => {
  const words = plain(text);
  const end = words.indexOf(AFTER);
  const start = words.slice(0, Math.max(0, end)).lastIndexOf(BEFORE);
  return start < 0 ? undefined : words.slice(start + BEFORE.length, end);
};

/** Small letters and digits without accents, with one blank between words: servers differ in case, accents and marks. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
