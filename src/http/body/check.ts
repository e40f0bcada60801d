import * as v from 'valibot';
import type { Cause, ErrorCode, Refusal } from '../../domain/common/error-catalogue.js';
import { nearestName } from '../../domain/common/nearest-name.js';
import { fieldMeantBy, isOfExports, sentenceWithoutField } from './field-hints.js';
import { isObject, type JsonBody } from './read-json-object.js';

type ObjectSchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;

type Checked<S extends ObjectSchema> = { value: v.InferOutput<S> } | { causes: readonly Cause[] };

/**
 * Checks a body against a schema and lists every cause: the sent fields in the order of the document, then the missing ones, level by level.
 * Only the schema's fields are allowed. Valibot's strict object stops at the first unknown key and takes `toString` for a known one. Schemas
 * transform nothing, so the value is the body itself.
 */
export const checkBody = <S extends ObjectSchema>(schema: S, body: JsonBody): Checked<S> => {
  const causes: Cause[] = [];
  addCauses(schema, body, { prefix: '', root: schema }, causes);
  return causes.length === 0 ? { value: body as v.InferOutput<S> } : { causes };
};

/** Unknown fields get suggestions while there are fewer causes: one may take a hundredth of a millisecond for each field of the schema. */
const MOST_SUGGESTIONS = 20;

/** Where in a body an object is, and the schema of that body. */
type Place = { prefix: string; root: ObjectSchema };

/** `MAX_STRUCTURE` bounds the number of fields, and so that of the causes, to about a thousand. */
const addCauses = (schema: ObjectSchema, value: JsonBody, place: Place, causes: Cause[]): void => {
  const { entries } = schema;
  const { prefix, root } = place;
  for (const key of Object.keys(value)) {
    const entry = Object.hasOwn(entries, key) ? entries[key] : undefined;
    if (entry !== undefined) addCausesOfField(entry, value[key], `${prefix}${key}`, root, causes);
    else {
      const path = `${prefix}${shown(key)}`;
      const named = path === '' ? 'de nome vazio' : path;
      const hint = causes.length < MOST_SUGGESTIONS ? suggestion(key, place) : '';
      causes.push({ param: path, message: `O campo ${named} não é conhecido.${hint}` });
    }
  }
  for (const key of Object.keys(entries)) {
    const entry = entries[key];
    if (entry === undefined || isOptional(entry) || Object.hasOwn(value, key)) continue;
    const path = `${prefix}${key}`;
    causes.push({ param: path, message: `O campo ${path} é obrigatório.` });
  }
};

const addCausesOfField = (entry: Entry, sent: unknown, path: string, root: ObjectSchema, causes: Cause[]): void => {
  const schema = unwrapped(entry);
  const advice = sent === null && isOptional(entry) ? WITHOUT_NULL : '';
  if (!isObjectSchema(schema)) {
    const { issues } = v.safeParse(schema, sent);
    for (const { message } of issues ?? []) causes.push({ param: path, message: `${message}${advice}` });
  } else if (isObject(sent)) addCauses(schema, sent, { prefix: `${path}.`, root }, causes);
  else causes.push({ param: path, message: `${path} deve ser um objeto.${advice}` });
};

const WITHOUT_NULL = ' Em vez de null, deixe o campo fora do corpo.';

/**
 * Names the field that other systems call like this, or else a field of the same object with nearly this name, or else a field of another
 * object with exactly this name, or else all fields of this object. What is no field anywhere is said in a sentence.
 */
const suggestion = (key: string, { prefix, root }: Place): string => {
  const paths = allPathsOf(root);
  const sentence = sentenceWithoutField(key);
  if (sentence !== undefined) return ` ${sentence}`;
  const isBeside = (path: string): boolean => path.startsWith(prefix) && !path.slice(prefix.length).includes('.');
  const beside = paths.filter(isBeside).map((path) => path.slice(prefix.length));
  const near = nearestName(key, beside);
  const meant =
    fieldMeantBy(key, paths) ??
    (near === undefined ? paths.find((path) => path.endsWith(`.${key}`)) : `${prefix}${near}`);
  const object = prefix === '' ? 'do corpo' : `de ${prefix.slice(0, -1)}`;
  if (meant === undefined) return ` Campos ${object}: ${beside.join(', ')}.`;
  return ` Você quis dizer ${meant}${isOfExports(meant) ? ', que só vale numa exportação' : ''}?`;
};

/** Found once per schema, because a body may hold a thousand unknown fields. */
const knownPaths = new WeakMap<ObjectSchema, readonly string[]>();

const allPathsOf = (root: ObjectSchema): readonly string[] => {
  const paths = knownPaths.get(root) ?? pathsOf(root, '');
  knownPaths.set(root, paths);
  return paths;
};

const pathsOf = ({ entries }: ObjectSchema, prefix: string): readonly string[] =>
  Object.entries(entries).flatMap(([key, entry]) => {
    const schema = unwrapped(entry);
    return [`${prefix}${key}`, ...(isObjectSchema(schema) ? pathsOf(schema, `${prefix}${key}.`) : [])];
  });

type Entry = v.ObjectEntries[string];

const isOptional = (entry: Entry): boolean => entry.type === 'optional';

const unwrapped = (entry: Entry): v.GenericSchema =>
  'wrapped' in entry && isOptional(entry) ? (entry.wrapped as v.GenericSchema) : (entry as v.GenericSchema);

const isObjectSchema = (schema: v.GenericSchema): schema is v.GenericSchema & ObjectSchema =>
  schema.type === 'strict_object';

const LONGEST_SHOWN_KEY = 100;

/** An unknown key may be megabytes long, so only its beginning is shown. */
const shown = (key: string): string =>
  key.length > LONGEST_SHOWN_KEY ? `${key.slice(0, LONGEST_SHOWN_KEY).replace(/[\uD800-\uDBFF]$/, '')}…` : key;

/** `message` and `param` are those of the first cause; `errors` lists all causes, the first included (ERR-errors). */
export const bodyRefusal = (code: ErrorCode, causes: readonly Cause[]): Refusal => {
  const [first] = causes;
  if (first === undefined) return { code, causes };
  return { code, causes, message: first.message, ...(first.param === '' ? {} : { param: first.param }) };
};
