import { randomInt } from 'node:crypto';
import { accessKeyCheckDigit } from '../../domain/common/access-key.js';
import { brasiliaDate, type Instant } from '../../domain/common/time.js';

/** Makes an access key with nine random digits (docs/national-system.md#access-key). */
export const newAccessKey = (note: {
  municipality: string;
  /** CNPJ or CPF. */
  emitter: string;
  number: number;
  at: Instant;
}): string => {
  const kind = note.emitter.length === 14 ? '2' : '1';
  const yearAndMonth = brasiliaDate(note.at).replaceAll('-', '').slice(2, 6);
  const random = String(randomInt(1_000_000_000)).padStart(9, '0');
  const number = String(note.number).padStart(13, '0');
  const first49 = `${note.municipality}2${kind}${note.emitter.padStart(14, '0')}${number}${yearAndMonth}${random}`;
  return `${first49}${accessKeyCheckDigit(first49)}`;
};
