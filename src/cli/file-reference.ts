import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';

/** A field of an operator's file. `path` has `[]` after a list and `{}` after a group whose names are data. */
type FileField = { path: string; required: boolean; values: string; description: string; example: unknown };

/** The JSON Schema of a file, for editors and for its reference: what its reader takes. */
export const schemaOfFile = (schema: v.GenericSchema): JsonSchema =>
  withExplanations(
    schema,
    toJsonSchema(schema, {
      target: 'draft-07',
      typeMode: 'input',
      // Rules between fields cannot be written as a schema; the reader checks them.
      errorMode: 'ignore',
      ignoreActions: ['check', 'raw_check', 'trim', 'metadata'],
    }),
  );

/** The converter drops what follows a transformation, and with it the explanation of a field. */
const withExplanations = (schema: v.GenericSchema, json: JsonSchema): JsonSchema => {
  const shape: Shape = innerOf(schema);
  const { entries, item, rest } = shape;
  const properties = Object.entries(json.properties ?? {}).map(([name, property]) => {
    const entry = entries?.[name];
    return [name, entry === undefined || typeof property === 'boolean' ? property : withExplanations(entry, property)];
  });
  return {
    ...json,
    ...v.getMetadata(shape),
    ...(json.properties === undefined ? {} : { properties: Object.fromEntries(properties) }),
    ...(item === undefined || typeof json.items !== 'object' || Array.isArray(json.items)
      ? {}
      : { items: withExplanations(item, json.items) }),
    ...(rest === undefined || typeof json.additionalProperties !== 'object'
      ? {}
      : { additionalProperties: withExplanations(rest, json.additionalProperties) }),
  };
};

type Shape = v.GenericSchema & {
  wrapped?: v.GenericSchema;
  entries?: Readonly<Record<string, v.GenericSchema>>;
  item?: v.GenericSchema;
  /** Of the entries whose names are data. */
  rest?: v.GenericSchema;
};

/** The schema inside of `optional`, `nullish` and the like, unless those have the explanation. */
const innerOf = (schema: Shape): Shape =>
  schema.wrapped === undefined || Object.keys(v.getMetadata(schema)).length > 0 ? schema : innerOf(schema.wrapped);

/** Every field of a file, in its order; the fields of a group follow it. */
export const fieldsOfFile = (schema: JsonSchema, prefix = ''): readonly FileField[] => {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return [];
    const path = `${prefix}${name}`;
    const items = typeof property.items === 'object' && !Array.isArray(property.items) ? property.items : undefined;
    const field: FileField = {
      path: items === undefined ? path : `${path}[]`,
      required: required.has(name),
      values: valuesOf(property),
      description: property.description ?? '',
      example: exampleOf(property),
    };
    if (items !== undefined) return [field, ...fieldsOfFile(items, `${path}[].`)];
    const { additionalProperties: named } = property;
    const byName = typeof named === 'object' ? fieldsOfFile(named, `${path}{}.`) : [];
    return [field, ...fieldsOfFile(property, `${path}.`), ...byName];
  });
};

const valuesOf = (schema: JsonSchema): string => {
  const nullable = schema.anyOf?.some((one) => typeof one === 'object' && one.type === 'null') === true;
  const shown = nullable
    ? (schema.anyOf?.find((one) => typeof one === 'object' && one.type !== 'null') ?? schema)
    : schema;
  const { enum: choices, type } = typeof shown === 'object' ? shown : schema;
  const text = choices === undefined ? (TYPES[String(type)] ?? String(type)) : choices.map(String).join(', ');
  return nullable ? `${text} or null` : text;
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true, false',
  integer: 'whole number',
  number: 'number',
  array: 'list',
  object: 'group',
};

/** An example of a file or of a part of it, made from the examples of its fields; undefined for a field without one. */
export const exampleOf = (schema: JsonSchema): unknown => {
  if (schema.examples !== undefined && schema.examples.length > 0) return schema.examples[0];
  if (schema.properties !== undefined)
    return Object.fromEntries(
      Object.entries(schema.properties).flatMap(([name, property]) => {
        const example = typeof property === 'boolean' ? undefined : exampleOf(property);
        return example === undefined ? [] : [[name, example]];
      }),
    );
  if (typeof schema.items === 'object' && !Array.isArray(schema.items)) return [exampleOf(schema.items)];
  return schema.default;
};

/** The example of a file with its required fields alone, and the names of the fields and groups that it leaves out. */
export const requiredExampleOf = (schema: JsonSchema): { example: unknown; leftOut: readonly string[] } => {
  const { properties = {}, required = [] } = schema;
  const kept = Object.entries(properties).filter(([name]) => required.includes(name));
  return {
    example: exampleOf({ ...schema, properties: Object.fromEntries(kept) }),
    leftOut: Object.keys(properties).filter((name) => !required.includes(name)),
  };
};
