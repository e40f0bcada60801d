import * as v from 'valibot';
import { isXmlText } from '../../domain/common/canonical-xml.js';
import type { Classifications } from '../../domain/common/classification.js';
import { codePattern, type MaskedCode, withoutMask } from '../../domain/common/masks.js';
import { instantOfStamp, isDay } from '../../domain/common/time.js';
import { MAX_EVENT_BYTES } from '../../ports/event-log.js';

/** National tables that files are checked against. */
export type FileTables = { isServiceCode(code: string): boolean; classification: Classifications };

/** A text of a form; `message` says which, without a value. */
export const shaped = (pattern: RegExp, message: string) =>
  v.pipe(v.string('must be a text'), v.regex(pattern, message));

/** A code of an operator's file, read with its mask or without; the result has none. */
export const coded = (message: string, ...codes: readonly MaskedCode[]) =>
  v.pipe(
    shaped(codePattern(...codes), message),
    v.transform((text) => withoutMask(text, ...codes)),
  );

/** A day that exists, as `YYYY-MM-DD`. */
export const day = v.pipe(shaped(/^\d{4}-\d{2}-\d{2}$/, 'must be a date YYYY-MM-DD'), v.check(isDay, 'is no date'));

const STAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** An instant with its zone, read as one in UTC. */
export const moment = v.config(
  v.pipe(
    shaped(STAMP, 'must be an ISO 8601 instant with its zone'),
    v.check((value) => instantOfStamp(value) !== undefined, 'is no instant of the years 2000 to 2199'),
    v.transform((value) => instantOfStamp(value) ?? value),
  ),
  { abortPipeEarly: true },
);

export const cnpj = coded('must be the 14 characters of the CNPJ', 'cnpj');

/** What a field means for the person who writes the file, and an example; the reference of the files is made from it. */
export const explained = <const S extends v.GenericSchema>(schema: S, description: string, ...examples: unknown[]) =>
  v.pipe(schema, v.metadata({ description, examples }));

export const stateCode = explained(
  shaped(/^[A-Z]{2}$/, 'must be a state in two capital letters'),
  'state in two capital letters',
  'RJ',
);

/** The problems whose condition holds. */
export const problemsIf = (checks: readonly (readonly [isWrong: boolean, problem: string])[]): readonly string[] =>
  checks.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []));

/** A text of an operator's file: trimmed, not empty, at most `max` characters, and only characters that an XML document can carry. */
export const fileText = (max: number) =>
  v.pipe(
    v.string('must be a text'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `is longer than ${max} characters`),
    v.check((value) => isXmlText(value) && !/\p{Cc}/u.test(value), 'has control characters'),
  );

/** What a file may add to one event, which also says who recorded it and when. */
const MOST_RECORDED_KIB = MAX_EVENT_BYTES / 1024 - 16;

/** Why one event cannot hold this part of a file; undefined where it can. An append would say so when other parts are recorded already. */
export const tooMuchForEvent = (data: object): string | undefined =>
  Buffer.byteLength(JSON.stringify(data)) > MOST_RECORDED_KIB * 1024
    ? `more than ${MOST_RECORDED_KIB} KiB, which is the most that is recorded at once`
    : undefined;
