import * as v from 'valibot';
import { isCnpj } from '../../../domain/common/cnpj.js';
import { present } from '../../../domain/common/present.js';
import { type MunicipalityCode, uncarriedMembers } from '../../../domain/registry/entry.js';
import type { EntryAddress, LocalEntry } from '../../../domain/registry/events.js';
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

type EntriesFile =
  | { entries: ReadonlyMap<string, LocalEntry>; warnings: readonly string[] }
  | { problems: readonly string[] };

/** `nearestTo`: the municipality that a misspelt city probably means, as `Niterói/RJ`. */
type Places = { codeOf: MunicipalityCode; nearestTo(city: string, state: string): string | undefined };

/**
 * Reads one registry entry or a list of them. Problems and warnings name the place in the list (from 1) and the field, never a value. An address that no
 * note can carry is a problem, because acceptance would leave it out. A CNPJ with wrong check digits is a warning, as in a company file.
 */
export const parseRegistryFile = (json: unknown, places: Places): EntriesFile => {
  const items: readonly unknown[] = Array.isArray(json) ? json : [json];
  const entries = new Map<string, LocalEntry>();
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const [index, item] of items.entries()) {
    const place = Array.isArray(json) ? `entry ${index + 1}: ` : '';
    const parsed = v.safeParse(entryFile, item);
    if (!parsed.success) {
      problems.push(...parsed.issues.map((issue) => `${place}${v.getDotPath(issue) ?? 'it'} ${plain(issue)}`));
      continue;
    }
    const { cnpj: key, legal_name: legalName, address } = parsed.output;
    if (entries.has(key)) problems.push(`${place}cnpj is there twice`);
    if (!isCnpj(key)) warnings.push(`${place}${WRONG_CNPJ}`);
    const read = address && addressOf(address);
    if (read !== undefined) problems.push(...uncarriedProblems(read, places).map((problem) => `${place}${problem}`));
    entries.set(key, present({ legalName, address: read }));
  }
  return problems.length > 0 ? { problems } : { entries, warnings };
};

type AddressFile = NonNullable<v.InferOutput<typeof entryFile>['address']>;

const addressOf = ({ postal_code: postalCode, ...rest }: AddressFile) => present({ ...rest, postalCode });

const WRONG_CNPJ = 'cnpj has wrong check digits: no customer has it, so no invoice uses the entry';

const uncarriedProblems = (address: EntryAddress, { codeOf, nearestTo }: Places): readonly string[] =>
  uncarriedMembers(address, codeOf).map((member) => {
    if (member === 'postalCode') return 'address.postal_code does not exist: the lowest one is 01000000';
    if (member !== 'city')
      return `address.${member} cannot be written in Latin letters within its length, and notes have no others`;
    const near = nearestTo(address.city, address.state);
    return `address.city is no municipality of the state${near === undefined ? '' : `; the nearest is ${near}`}`;
  });

const plain = (issue: { type: string; expected: string | null; received: string; message: string }): string => {
  if (issue.expected === 'never') return 'is not a known field';
  return issue.received === 'undefined' ? 'is missing' : issue.message;
};
