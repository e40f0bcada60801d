import type { JsonSchema } from '@valibot/to-json-schema';
import { schemaComponents } from '../../../src/http/openapi/components.js';
import { activityExample, cancelExamples, issueExamples } from '../../../src/http/openapi/examples.js';
import { cell } from './regions.js';

type Body = 'IssueRequest' | 'CancelRequest';

type Field = { name: string; path: string; schema: JsonSchema; required: boolean };

const components = schemaComponents();

/** The schema behind a reference; the components refer to each other by name. */
const resolved = (schema: JsonSchema): JsonSchema =>
  schema.$ref === undefined ? schema : (components[schema.$ref.replace('#/components/schemas/', '')] ?? schema);

/** The fields of one object, in their order. `prefix` is the path of the object with a dot behind, empty for the body. */
const fieldsOf = (object: JsonSchema, prefix: string): readonly Field[] =>
  Object.entries(object.properties ?? {}).flatMap(([name, property]) =>
    typeof property === 'boolean'
      ? []
      : [
          {
            name,
            path: `${prefix}${name}`,
            schema: resolved(property),
            required: object.required?.includes(name) === true,
          },
        ],
  );

/** The rules between fields (POSTC, POSTF), which no schema holds. */
const WHEN: Readonly<Record<string, string>> = {
  customer: 'na exportação',
  'customer.type': 'na exportação',
  'customer.name': 'com CPF e na exportação; recomendado com CNPJ',
  reference: 'não, mas sempre recomendado',
  cnae: 'não, mas sempre recomendado',
  service_code: 'não, mas sempre recomendado',
  'customer.tax_id': 'na exportação, este ou o seguinte',
  'customer.tax_id_absence_reason': 'na exportação, este ou o anterior',
  'customer.address': 'na exportação',
  foreign_amount: 'na exportação',
};

/** How the descriptions begin where an object has the field always. */
const ALWAYS_IN_OBJECT = 'Obrigatório: ';

const whenOf = ({ path, schema, required }: Field): string =>
  required || schema.description?.startsWith(ALWAYS_IN_OBJECT) === true ? 'sempre' : (WHEN[path] ?? 'não');

const TYPES: Readonly<Record<string, string>> = { string: 'texto', integer: 'inteiro' };

const typeOf = ({ type }: JsonSchema): string => {
  const name = TYPES[String(type)];
  if (name === undefined) throw new Error(`no Portuguese name of the type ${String(type)}`);
  return name;
};

/** In words; a pattern without words is a mistake of this page. */
const PATTERNS: Readonly<Record<string, string>> = {
  '^[0-9]{7}$': '7 dígitos',
  '^(?:[0-9]{11}|[0-9]{14})$': '11 ou 14 dígitos',
  '^[0-9]+$': 'só dígitos',
  '^\\S+$': 'sem espaços',
};

const rangeOf = (least: number | undefined, most: number | undefined): string => {
  if (most === undefined) return '';
  return least === undefined ? `até ${most}` : `de ${least} a ${most}`;
};

const limitsOf = ({ pattern, minimum, maximum, minLength, maxLength }: JsonSchema): string => {
  if (pattern !== undefined) {
    const words = PATTERNS[pattern];
    if (words === undefined)
      throw new Error(`no words for the pattern ${pattern}: add them to PATTERNS in request-fields.ts`);
    return maxLength === undefined ? words : `${rangeOf(minLength, maxLength)} caracteres, ${words}`;
  }
  if (maximum !== undefined) return rangeOf(minimum, maximum);
  // A code is checked against a table, so that its length says nothing to a reader.
  return maxLength === undefined ? '' : `${rangeOf(minLength, maxLength)} caracteres`;
};

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const meaningOf = ({ description = '' }: JsonSchema): string => {
  const text = description.startsWith(ALWAYS_IN_OBJECT) ? description.slice(ALWAYS_IN_OBJECT.length) : description;
  return capital(text.replaceAll('\n- ', ' '));
};

const valueAt = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined), value);

const EXAMPLES: Readonly<Record<Body, readonly unknown[]>> = {
  IssueRequest: [
    issueExamples.cliente.value,
    issueExamples.exportacao.value,
    activityExample,
    { customer: { tax_id_absence_reason: 'not_required' } },
  ],
  CancelRequest: [cancelExamples.motivo.value],
};

const exampleOf = (body: Body, path: string): string => {
  const example = EXAMPLES[body].map((value) => valueAt(value, path)).find((value) => value !== undefined);
  if (example === undefined)
    throw new Error(`no example of ${path}: add one to the examples that request-fields.ts reads`);
  return `Exemplo: \`${JSON.stringify(example)}\`.`;
};

/** As GitHub makes it of a heading in code. */
const anchorOf = (path: string): string => path.replaceAll('.', '');

const takenOf = (path: string, schema: JsonSchema): string => {
  if (schema.type === 'object') return `objeto: [campos](#${anchorOf(path)})`;
  if (schema.enum !== undefined) return `texto: ${schema.enum.map((value) => `\`${String(value)}\``).join(' ou ')}`;
  const limits = limitsOf(schema);
  return limits === '' ? typeOf(schema) : `${typeOf(schema)}, ${limits}`;
};

const rowOf = (body: Body, field: Field): string => {
  const { name, path, schema } = field;
  const example = schema.type === 'object' ? '' : ` ${exampleOf(body, path)}`;
  return `| ${[`\`${name}\``, whenOf(field), takenOf(path, schema), `${meaningOf(schema)}${example}`].map(cell).join(' | ')} |`;
};

/** The table of an object's fields, then a section for each object among them. */
const sectionsOf = (body: Body, object: JsonSchema, prefix = ''): readonly string[] => {
  const fields = fieldsOf(object, prefix);
  const table = [
    '| campo | obrigatório | valor | significado |',
    '|---|---|---|---|',
    ...fields.map((field) => rowOf(body, field)),
  ];
  const inner = fields.filter(({ schema }) => schema.type === 'object');
  return [
    table.join('\n'),
    ...inner.flatMap(({ path, schema }) => [`### \`${path}\``, ...sectionsOf(body, schema, `${path}.`)]),
  ];
};

/** A row for each field of the body, from the schema that the handler checks it by; one table for each object. */
export const requestTables = (body: Body): string => sectionsOf(body, components[body] ?? {}).join('\n\n');
