import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectionOf } from '../../../src/http/openapi/collection.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { ROOT } from '../root.js';
import { commandSections, commandsWithoutActor, exampleTable } from './commands.js';
import { variableTables } from './configuration.js';
import { catalogTable, fileTable, municipalityTable, parametersTable, schemaPages } from './files.js';
import { withRegion } from './regions.js';
import { requestTables } from './request-fields.js';

export const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const FILES_PAGE = 'docs/operations/files.md';

/** Each region of the page about the files of operators, with its table. */
const fileRegions: readonly (readonly [region: string, table: () => string])[] = [
  ['company', () => fileTable('company')],
  ['registry', () => fileTable('registry')],
  ['catalog', catalogTable],
  ['import', () => fileTable('import')],
  ['municipality', municipalityTable],
  ['parameters', parametersTable],
];

const GUIDE_FIELDS = 'docs/guia/campos.md';

export const COLLECTION = 'docs/collection/nfse.postman_collection.json';

/** Where `npm start` listens. */
const LOCAL = 'http://127.0.0.1:3000';

/** The pages with tables of variables, commands and files, the JSON Schema files, and the collection of requests, as the code says today. */
export const referencePages = (): Readonly<Record<string, string>> => ({
  'docs/operations/configuration.md': withRegion(
    readPage('docs/operations/configuration.md'),
    'variables',
    variableTables(),
  ),
  [FILES_PAGE]: fileRegions.reduce((page, [region, table]) => withRegion(page, region, table()), readPage(FILES_PAGE)),
  ...schemaPages(),
  [GUIDE_FIELDS]: withRegion(
    withRegion(readPage(GUIDE_FIELDS), 'emitir', requestTables('IssueRequest')),
    'cancelar',
    requestTables('CancelRequest'),
  ),
  [COLLECTION]: `${JSON.stringify(collectionOf(openApiDocument(LOCAL)), null, 2)}\n`,
  'docs/cli.md': withRegion(
    withRegion(
      withRegion(readPage('docs/cli.md'), 'commands without actor', commandsWithoutActor()),
      'examples',
      exampleTable(),
    ),
    'commands',
    commandSections(),
  ),
});
