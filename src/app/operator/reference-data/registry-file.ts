import * as v from 'valibot';
import { present } from '../../../domain/common/present.js';
import type { LocalEntry } from '../../../domain/registry/events.js';
import { cnpj, coded, explained, fileText, stateCode } from '../file-text.js';

/** One entry of a registry file, which is one of them or a list. */
export const entryFile = v.strictObject(
  {
    cnpj: explained(cnpj, 'CNPJ of the customer, with or without mask', '11222333000181'),
    legal_name: explained(fileText(300), 'legal name, which notes to this customer show', 'OFICINA EXEMPLO LTDA'),
    address: v.optional(
      v.strictObject({
        street: explained(fileText(255), 'street without number', 'Rua das Flores'),
        number: explained(fileText(60), 'number, or S/N', '100'),
        complement: v.optional(explained(fileText(156), 'complement', 'Sala 2')),
        district: explained(fileText(60), 'district (bairro)', 'Centro'),
        city: explained(fileText(60), 'city', 'Rio de Janeiro'),
        state: stateCode,
        postal_code: explained(coded('must be 8 digits', 'postalCode'), 'CEP, with or without mask', '20040002'),
      }),
    ),
  },
  'must be an object with cnpj, legal_name and perhaps address, and no other field',
);

type EntriesFile = { entries: ReadonlyMap<string, LocalEntry> } | { problems: readonly string[] };

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
    const { cnpj: key, legal_name: legalName, address } = parsed.output;
    if (entries.has(key)) problems.push(`${place}cnpj is there twice`);
    entries.set(key, present({ legalName, address: address && addressOf(address) }));
  }
  return problems.length > 0 ? { problems } : { entries };
};

type AddressFile = NonNullable<v.InferOutput<typeof entryFile>['address']>;

const addressOf = ({ postal_code: postalCode, ...rest }: AddressFile) => present({ ...rest, postalCode });

const plain = (issue: { type: string; expected: string | null; received: string; message: string }): string => {
  if (issue.expected === 'never') return 'is not a known field';
  return issue.received === 'undefined' ? 'is missing' : issue.message;
};
