import * as v from 'valibot';
import { modes } from '../../domain/common/ids.js';

/** Building blocks of the schemas of stored events. A message quotes no value, because a value may be personal or forged. */
const matching = (pattern: RegExp, what: string) => v.pipe(v.string(), v.regex(pattern, `must be ${what}`));

export const text = v.string();
export const boolean = v.boolean();
export const integerFrom0 = v.pipe(
  v.number(),
  v.safeInteger('must be a whole number'),
  v.minValue(0, 'must not be negative'),
);
export const integerFrom1 = v.pipe(integerFrom0, v.minValue(1, 'must be at least 1'));
export const instant = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'an instant in UTC');
export const date = matching(/^\d{4}-\d\d-\d\d$/, 'a date');
export const hash = matching(/^[0-9a-f]{64}$/, 'a SHA-256 in hex');
/** `hmac:1:<tag of the key>:<base64url>`. */
export const keyedHash = matching(/^hmac:1:[0-9A-Za-z.-]+:[\w-]{43}$/, 'a hash under a key');
export const base64 = matching(/^[0-9A-Za-z+/]*={0,2}$/, 'base64');
export const uuid = matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'a UUID');
export const companyId = matching(/^[0-9A-Z]{14}$/, 'a CNPJ');
export const mode = v.picklist(modes, 'must be live or test');
export const position = matching(/^\d{1,20}$/, 'a position');
export const texts = v.array(text);

/** `sealed:1:<generation>:<event id>:<iv>:<ciphertext>`; without the key only this form can be checked. */
export const sealed = matching(/^sealed:1:[0-9A-Za-z.-]+:[0-9a-f-]{36}:[\w-]{16}:[\w-]+$/, 'sealed text');

const percentages = { federal: text, state: text, municipal: text };
/** The percentages of approximate taxes that an invoice declares. */
export const taxParts = v.strictObject(percentages);
/** A row of a company's table of them. */
export const approximateTaxes = v.strictObject({
  from: date,
  until: v.optional(date),
  serviceCode: v.optional(text),
  ...percentages,
});

/** The choices of a company about IBS and CBS for a service. */
export const ibsCbsChoice = {
  indOp: v.optional(text),
  classTrib: v.optional(text),
  classTribRegular: v.optional(text),
};
export const dpsStart = v.strictObject({ series: text, nextNumber: integerFrom1 });

export const optional = v.optional;
export const strictObject = v.strictObject;

const anchoredPart = strictObject({ root: hash, streams: integerFrom0, events: integerFrom0 });

/** The fields of `LogAnchor`, and when it was appended. */
export const anchorFields = {
  day: date,
  after: v.union([v.literal(''), position]),
  upTo: position,
  live: anchoredPart,
  test: anchoredPart,
  order: optional(hash),
  at: instant,
};

/** What the JSON text holds, in the form of the schema; undefined for any other text. */
export const readJson = <S extends v.GenericSchema>(schema: S, json: string): v.InferOutput<S> | undefined => {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(json), { abortEarly: true });
    return success ? output : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The same of a file that other programs read too; undefined also where an object names a member twice. Of such members JSON.parse takes the last, and
 * another program may take the first, so a signature would cover what that program does not show.
 */
export const readSharedJson = <S extends v.GenericSchema>(schema: S, json: string): v.InferOutput<S> | undefined => {
  const output = readJson(schema, json);
  return output === undefined || namedMembers(json) === members(output) ? output : undefined;
};

/** Each string of a JSON text, with the colon that makes a string the name of a member. */
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g;

const namedMembers = (json: string): number => {
  let names = 0;
  for (const [, colon] of json.matchAll(STRINGS)) if (colon !== undefined) names += 1;
  return names;
};

const members = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Object.values(value);
  const inner = own.reduce((sum: number, one) => sum + members(one), 0);
  return Array.isArray(value) ? inner : inner + own.length;
};
