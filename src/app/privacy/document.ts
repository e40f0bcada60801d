import { createHmac } from 'node:crypto';
import { revealsStream } from '../../domain/log/audit-events.js';
import type { Clock } from '../../ports/clock.js';
import type { SealingKeys } from '../../ports/sealing-keys.js';

/** Of a person that asks about its data: `text` in capitals, without the points and strokes that people write. */
export type PersonalDocument = { kind: 'cpf' | 'cnpj' | 'nif'; text: string };

/** Undefined when no letter or digit is in it. What is neither CPF nor CNPJ by its length is taken for a foreign NIF. */
export const readDocument = (typed: string): PersonalDocument | undefined => {
  const text = bare(typed);
  if (text === '') return undefined;
  if (/^\d{11}$/.test(text)) return { kind: 'cpf', text };
  return { kind: /^[0-9A-Z]{12}\d{2}$/.test(text) ? 'cnpj' : 'nif', text };
};

export const isSameDocument = (found: string | undefined, { text }: PersonalDocument): boolean =>
  found !== undefined && bare(found) === text;

/** Whether a free text holds the document, written with or without its points. A NIF may be any short word: never. */
export const mentions = (text: string, { kind, text: document }: PersonalDocument): boolean =>
  kind !== 'nif' &&
  (text.match(/[0-9A-Za-z](?:[.\-/ ]?[0-9A-Za-z])*/g) ?? []).some((word) => bare(word).includes(document));

/**
 * A name for the document on record that only a holder of the master key can check against one: HMAC-SHA256, for the plain
 * hash of eleven digits is found by trying them all.
 */
export const documentMark = async ({ text }: PersonalDocument, keys: SealingKeys, clock: Clock): Promise<string> => {
  const { generation, key } = await keys.forSealing('live', revealsStream, clock.now());
  return `hmac-sha256:${generation}:${createHmac('sha256', key).update(`privacy|${text}`).digest('hex')}`;
};

const bare = (typed: string): string => typed.toUpperCase().replace(/[^0-9A-Z]/g, '');
