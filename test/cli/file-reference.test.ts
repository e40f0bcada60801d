import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { companyFile, parseCompanyFile } from '../../src/app/operator/company/company-file.js';
import { importFields, parseImportLine } from '../../src/app/operator/import/import-line.js';
import { entryFile, parseRegistryFile } from '../../src/app/operator/reference-data/registry-file.js';
import { exampleOf, fieldsOfFile, schemaOfFile } from '../../src/cli/file-reference.js';
import { companyFileTables } from '../../src/tables/catalogue.js';
import { municipalityByName } from '../../src/tables/municipalities.js';

const files = [
  ['company', companyFile],
  ['registry', entryFile],
  ['import', importFields],
] as const;

describe.each(files)('the reference of the %s file', (_name, file) => {
  const schema = schemaOfFile(file);

  it('explains every field that is no group', () => {
    const fields = fieldsOfFile(schema);
    expect(fields.length).toBeGreaterThan(8);
    const silent = fields.filter(({ path, description }) => {
      const isGroup = fields.some((other) => other.path.startsWith(`${path}.`));
      return !isGroup && description === '';
    });
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('has an example that its own schema takes, and refuses an unknown field', () => {
    const validate = new Ajv({ strict: false }).compile(schema as object);
    const example = exampleOf(schema) as object;
    expect([validate(example), validate.errors]).toEqual([true, null]);
    expect(validate({ ...example, surprise: true })).toBe(false);
  });
});

it('the examples of company and registry are files that their readers take', () => {
  expect(parseCompanyFile(exampleOf(schemaOfFile(companyFile)), companyFileTables)).toHaveProperty('registration');
  const places = {
    codeOf: (city: string, state: string) => municipalityByName(city, state)?.ibge,
    nearestTo: () => undefined,
  };
  expect(parseRegistryFile(exampleOf(schemaOfFile(entryFile)), places)).toMatchObject({ warnings: [] });
});

it('every field of the example of an import line is a value that its reader takes', () => {
  const { canceled_at, replaced_by, customer, idempotency_key, ...example } = exampleOf(
    schemaOfFile(importFields),
  ) as Record<string, unknown>;
  const { tax_id, tax_id_absence_reason, address, ...person } = customer as Record<string, unknown>;
  expect(parseImportLine(JSON.stringify({ ...example, customer: person }))).toHaveProperty('line');
  const foreign = { type: 'foreign', name: 'Maria', tax_id, address };
  expect(parseImportLine(JSON.stringify({ ...example, customer: foreign }))).toHaveProperty('line');
  expect(
    parseImportLine(JSON.stringify({ ...example, state: 'canceled', canceled_at, customer: person })),
  ).toHaveProperty('line');
  expect(
    parseImportLine(JSON.stringify({ ...example, state: 'replaced', replaced_by, customer: person })),
  ).toHaveProperty('line');
  expect(tax_id_absence_reason).toBe('exempt');
  const { id, reference, ...nameless } = example;
  expect(parseImportLine(JSON.stringify({ ...nameless, idempotency_key }))).toHaveProperty('line');
  expect([id, reference]).not.toContain(undefined);
});
