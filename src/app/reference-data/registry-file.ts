import * as v from 'valibot';
import type { LocalEntry } from '../../domain/registry/entry.js';

const text = (max: number) =>
  v.pipe(
    v.string('must be a text'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `is longer than ${max} characters`),
    v.check((value) => !/[\p{Cc}\p{Cs}]/u.test(value), 'has control characters'),
  );

const shaped = (pattern: RegExp, message: string) => v.pipe(v.string('must be a text'), v.regex(pattern, message));

const entryFile = v.strictObject(
  {
    cnpj: shaped(/^[0-9A-Z]{12}\d{2}$/, 'must be the 14 characters of the CNPJ, without a mask'),
    legal_name: text(300),
    address: v.optional(
      v.strictObject({
        street: text(255),
        number: text(60),
        complement: v.optional(text(156)),
        district: text(60),
        city: text(60),
        state: shaped(/^[A-Z]{2}$/, 'must be a state in two capital letters'),
        postal_code: shaped(/^\d{8}$/, 'must be 8 digits'),
      }),
    ),
  },
  'must be an object with cnpj, legal_name and perhaps address, and no other field',
);

export type EntriesFile = { entries: ReadonlyMap<string, LocalEntry> } | { problems: readonly string[] };

/** Reads one registry entry or a list of them. Problems name the place in the list (from 1) and the field, never a value. */
export const parseRegistryFile = (json: unknown): EntriesFile => {
  const items: readonly unknown[] = Array.isArray(json) ? json : [json];
  const entries = new Map<string, LocalEntry>();
  const problems: string[] = [];
  for (const [index, item] of items.entries()) {
    const place = Array.isArray(json) ? `entry ${index + 1}: ` : '';
    const parsed = v.safeParse(entryFile, item);
    if (!parsed.success) {
      problems.push(...parsed.issues.map((issue) => `${place}${v.getDotPath(issue) ?? 'it'} ${plain(issue)}`));
      continue;
    }
    const { cnpj, legal_name: legalName, address } = parsed.output;
    if (entries.has(cnpj)) problems.push(`${place}cnpj is there twice`);
    entries.set(cnpj, { legalName, ...(address === undefined ? {} : { address: addressOf(address) }) });
  }
  return problems.length > 0 ? { problems } : { entries };
};

type AddressFile = NonNullable<v.InferOutput<typeof entryFile>['address']>;

const addressOf = ({ postal_code: postalCode, complement, ...rest }: AddressFile) => ({
  ...rest,
  postalCode,
  ...(complement === undefined ? {} : { complement }),
});

const plain = (issue: { type: string; expected: string | null; received: string; message: string }): string => {
  if (issue.expected === 'never') return 'is not a known field';
  return issue.received === 'undefined' ? 'is missing' : issue.message;
};
