import type * as v from 'valibot';
import { companyFile } from '../../../src/app/operator/company/company-file.js';
import { importFields } from '../../../src/app/operator/import/import-line.js';
import { catalogColumns } from '../../../src/app/operator/reference-data/catalog-file.js';
import { entryFile } from '../../../src/app/operator/reference-data/registry-file.js';
import { municipalityCommands, parameterFields } from '../../../src/cli/commands/municipality.js';
import { fieldsOfFile, schemaOfFile } from '../../../src/cli/file-reference.js';
import { cell } from './regions.js';

const FILES = {
  company: { title: 'Company file of nfse company put', schema: companyFile },
  registry: { title: 'Entry of a registry file of nfse registry put', schema: entryFile },
  import: { title: 'Line of an import file of nfse invoice import', schema: importFields },
} as const satisfies Record<string, { title: string; schema: v.GenericSchema }>;

type FileName = keyof typeof FILES;

const jsonSchemaOf = (name: FileName) => {
  const { title, schema } = FILES[name];
  const { $schema, ...rest } = schemaOfFile(schema);
  // A registry file is one entry or a list of them.
  const body = name === 'registry' ? { anyOf: [rest, { type: 'array', items: rest }] } : rest;
  return { $schema, title, ...body };
};

/** The JSON Schema files for editors, by path. */
export const schemaPages = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (Object.keys(FILES) as FileName[]).map((name) => [
      `docs/schemas/${name}.json`,
      `${JSON.stringify(jsonSchemaOf(name), null, 2)}\n`,
    ]),
  );

const rowOf = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

const exampleText = (example: unknown): string =>
  example === undefined || example === '' ? '' : `\`${JSON.stringify(example)}\``;

/** A table with a row for each field that has an explanation. */
export const fileTable = (name: FileName): string =>
  [
    '| field | required | values | what | example |',
    '|---|---|---|---|---|',
    ...fieldsOfFile(schemaOfFile(FILES[name].schema))
      .filter(({ description }) => description !== '')
      .map(({ path, required, values, description, example }) =>
        rowOf([`\`${path}\``, required ? 'yes' : '', values, description, exampleText(example)]),
      ),
  ].join('\n');

/** The columns of a catalogue file. */
export const catalogTable = (): string =>
  [
    '| column | required | what | example |',
    '|---|---|---|---|',
    ...catalogColumns.map(({ name, required, description, example }) =>
      rowOf([`\`${name}\``, required ? 'yes' : '', description, example === '' ? '' : `\`${example}\``]),
    ),
  ].join('\n');

/** The flags with which an operator says what a municipality demands. */
export const municipalityTable = (): string =>
  [
    '| flag | what |',
    '|---|---|',
    ...municipalityCommands.flatMap(({ name, options = {} }) =>
      name === 'municipality set'
        ? Object.entries(options).map(([flag, { help }]) => rowOf([`\`--${flag}\``, help]))
        : [],
    ),
  ].join('\n');

/** The stored answers of the parameters API, as `municipality show` prints them. */
export const parametersTable = (): string =>
  [
    '| question | field of `told` | what |',
    '|---|---|---|',
    ...Object.entries(parameterFields).flatMap(([question, fields]) =>
      Object.entries(fields).map(([field, what]) => rowOf([`\`${question}\``, `\`${field}\``, what])),
    ),
  ].join('\n');
