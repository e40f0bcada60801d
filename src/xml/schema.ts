import { readdirSync, readFileSync } from 'node:fs';
import {
  XmlBufferInputProvider,
  XmlDocument,
  XmlValidateError,
  XsdValidator,
  xmlRegisterInputProvider,
} from 'libxml2-wasm';
import { withXmlDocument } from './document.js';

export type DocumentKind = 'DPS' | 'NFSe' | 'pedRegEvento' | 'evento';

/**
 * The faults of a document by the official XSDs in one folder of `src/xml/xsd`, empty when it is valid. They hold names, facets and lines, never
 * values of the document. Each schema is compiled once per process, when it is first needed. Throws for a folder that is not there.
 */
export const schemaFaults = (schemas: string, kind: DocumentKind, xml: Buffer): readonly string[] => {
  const opened = withXmlDocument(xml, (document) => schemaFaultsWithValues(schemas, kind, document));
  return opened.ok ? opened.value.map(withoutValue) : [opened.reason];
};

/**
 * The faults of an open document with the values that libxml2 quotes. They may be personal: only the sender of the document may see them. Throws as
 * `schemaFaults` does.
 */
export const schemaFaultsWithValues = (
  schemas: string,
  kind: DocumentKind,
  document: XmlDocument,
): readonly string[] =>
  document.root.name === kind
    ? faultsOf(validatorOf(setOf(schemas), kind), document)
    : [`the root element is not ${kind}`];

/** Compiles schemas now, because that takes up to 20 ms, which a running service cannot spare. */
export const compileSchemas = (schemas: string, ...kinds: readonly DocumentKind[]): void => {
  for (const kind of kinds) validatorOf(setOf(schemas), kind);
};

/** The text of the schema file of this name, without its version (`tiposComplexos`). Throws for a file that is not there. */
export const schemaText = (schemas: string, name: string): string =>
  fileOf(setOf(schemas), name).source.toString('utf8');

/** The files of one folder, by their addresses in memory, and what was compiled of them. */
type SchemaSet = {
  files: ReadonlyMap<string, Buffer>;
  validators: Map<DocumentKind, XsdValidator>;
};

const sets = new Map<string, SchemaSet>();

/** Loads and registers the files of a folder once, because libxml2 asks every provider that was ever registered. */
const setOf = (schemas: string): SchemaSet => {
  const set = sets.get(schemas) ?? load(schemas);
  sets.set(schemas, set);
  return set;
};

const load = (schemas: string): SchemaSet => {
  const folder = new URL(`${schemas}/`, new URL('./xsd/', import.meta.url));
  // Schema files include each other by relative name. This scheme resolves them in memory, without file system and network.
  const scheme = `nfse-xsd://set-${sets.size}/`;
  const names = readdirSync(folder).filter((name) => name.endsWith('.xsd'));
  const files = new Map(
    names.map((name) => [`${scheme}${name}`, corrected(name, readFileSync(new URL(name, folder)))]),
  );
  xmlRegisterInputProvider(new XmlBufferInputProvider(Object.fromEntries(files)));
  return { files, validators: new Map() };
};

/** A name is followed by `_v` and the version of its file. */
const fileOf = ({ files }: SchemaSet, name: string): { url: string; source: Buffer } => {
  for (const [url, source] of files) if (url.includes(`/${name}_v`)) return { url, source };
  throw new Error(`the schema ${name} is missing`);
};

/**
 * The one pattern of the official files that is wrong: `TSChaveNFSe` takes the letters of a CNPJ six places early, so that no key with letters
 * passes. The corrected pattern is that of the same key inside `TSIdPedRegEvt` (docs/national-system.md#cnpj-with-letters).
 */
const CORRECTION = {
  file: /^tiposSimples_v/,
  official: '<xs:pattern value="[0-9]{6}([0-9A-Z]{14})[0-9]{30}"/>',
  right: '<xs:pattern value="[0-9]{8}(1[0-9]{14}|2[0-9A-Z]{14})[0-9]{27}"/>',
} as const;

const corrected = (name: string, source: Buffer): Buffer => {
  if (!CORRECTION.file.test(name)) return source;
  const text = source.toString('utf8');
  if (text.includes(CORRECTION.right)) return source;
  // A new bundle may have another pattern; then a person has to look at the correction again.
  if (text.split(CORRECTION.official).length !== 2) throw new Error(`${name} no longer holds the pattern to correct`);
  return Buffer.from(text.replace(CORRECTION.official, CORRECTION.right), 'utf8');
};

const validatorOf = (set: SchemaSet, kind: DocumentKind): XsdValidator => {
  const validator = set.validators.get(kind) ?? compile(set, kind);
  set.validators.set(kind, validator);
  return validator;
};

const compile = (set: SchemaSet, kind: DocumentKind): XsdValidator => {
  const { url, source } = fileOf(set, kind);
  const xsd = XmlDocument.fromBuffer(source, { url });
  try {
    return XsdValidator.fromDoc(xsd);
  } finally {
    xsd.dispose();
  }
};

const faultsOf = (validator: XsdValidator, document: XmlDocument): readonly string[] => {
  try {
    validator.validate(document);
    return [];
  } catch (error) {
    if (error instanceof XmlValidateError) return error.details.map(({ message }) => message.trim());
    throw error;
  }
};

/** Removes the value that libxml2 quotes, which may be a person's name; element and facet say enough. */
const withoutValue = (message: string): string =>
  message
    .replace(/The value '.*' (is not|has)/s, 'The value $1')
    .replace(/: '.*' is not a valid value/s, ': not a valid value');
