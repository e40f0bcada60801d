import * as v from 'valibot';

/** A wrong member of a request, named by its path (`match.cnpj`, `benefits[0].number`). */
export class BadInput extends Error {
  override readonly name = 'BadInput';
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** The request that `schema` makes of this JSON. Throws `BadInput` for the first wrong member. */
export const read = <S extends v.GenericSchema>(schema: S, json: unknown): v.InferOutput<S> => {
  const parsed = v.safeParse(schema, json, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new BadInput(fieldOf(issue), meaningOf(issue));
};

const fieldOf = ({ path }: v.BaseIssue<unknown>): string =>
  (path ?? []).reduce((field, { key }) => `${field}${typeof key === 'number' ? `[${key}]` : `.${key}`}`, '').slice(1) ||
  'body';

const meaningOf = ({ expected, received, message }: v.BaseIssue<unknown>): string => {
  if (expected === 'never') return 'is not known';
  return received === 'undefined' ? 'is required' : message;
};

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;

type CamelCased<T> = { [K in keyof T as CamelCase<K>]: T[K] };

const camelCased = <T extends object>(members: T): CamelCased<T> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name.replace(/_(.)/g, (_, first) => first.toUpperCase()), value]),
  ) as CamelCased<T>;

/** A JSON object with these members and no others; what is read has their names in camel case. */
export const members = <E extends v.ObjectEntries>(entries: E) =>
  v.pipe(
    v.custom<unknown>((value) => !Array.isArray(value), NO_OBJECT),
    v.strictObject(entries, NO_OBJECT),
    v.transform(camelCased),
  );

const NO_OBJECT = 'must be a JSON object';

export const oneOf = <const T extends readonly string[]>(allowed: T) =>
  v.picklist(allowed, `must be one of ${allowed.join(', ')}`);

export const whole = (least: number, most: number) => {
  const message = `must be a whole number from ${least} to ${most}`;
  return v.pipe(v.number(message), v.integer(message), v.minValue(least, message), v.maxValue(most, message));
};

export const flag = v.boolean('must be true or false');

export const textLike = (pattern: RegExp, meaning: string) =>
  v.pipe(v.string(`must be ${meaning}`), v.regex(pattern, `must be ${meaning}`));

export const listOf = <S extends v.GenericSchema>(item: S) => v.array(item, 'must be a list');

export const MODE = oneOf(['test', 'live']);

/** A text of this form that is also right by `isRight`. */
export const rightText = (pattern: RegExp, isRight: (text: string) => boolean, meaning: string) =>
  v.pipe(textLike(pattern, meaning), v.check(isRight, `must be ${meaning}`));

export const CNPJ = textLike(/^[0-9A-Z]{12}[0-9]{2}$/, 'a CNPJ of 14 characters');
