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
 * The faults of a document by the official XSDs of layout 1.01 with `CORRECTION`, empty when it is valid. They hold names, facets and lines, never
 * values of the document. Each schema is compiled once per process, when it is first needed.
 */
export const schemaFaults = (kind: DocumentKind, xml: Buffer): readonly string[] =>
  schemaFaultsWithValues(kind, xml).map(withoutValue);

/** The same faults with the values that libxml2 quotes. They may be personal: only the sender of the document may see them. */
export const schemaFaultsWithValues = (kind: DocumentKind, xml: Buffer): readonly string[] => {
  const opened = withXmlDocument(xml, (document) => schemaFaultsIn(kind, document));
  return opened.ok ? opened.value : [opened.reason];
};

/** The same of a document that is already open. */
export const schemaFaultsIn = (kind: DocumentKind, document: XmlDocument): readonly string[] =>
  document.root.name === kind ? faultsOf(validatorOf(kind), document) : [`the root element is not ${kind}`];

/** Compiles schemas now, because that takes up to 20 ms, which a running service cannot spare. */
export const compileSchemas = (...kinds: readonly DocumentKind[]): void => {
  for (const kind of kinds) validatorOf(kind);
};

const FOLDER = new URL('./xsd/v1.01/', import.meta.url);

/** Schema files include each other by relative name. This scheme resolves them in memory, without file system and network. */
const SCHEME = 'nfse-xsd://v1.01/';

let files: ReadonlyMap<string, Buffer> | undefined;

/** The text of a schema file, by its name. Throws for a name that is not there. */
export const schemaText = (file: string): string => {
  const source = schemaFiles().get(`${SCHEME}${file}`);
  if (source === undefined) throw new Error(`the schema ${file} is missing`);
  return source.toString('utf8');
};

/** Loads and registers the files once, because libxml2 asks every provider that was ever registered. */
const schemaFiles = (): ReadonlyMap<string, Buffer> => {
  if (files !== undefined) return files;
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.xsd'));
  files = new Map(names.map((name) => [`${SCHEME}${name}`, corrected(name, readFileSync(new URL(name, FOLDER)))]));
  xmlRegisterInputProvider(new XmlBufferInputProvider(Object.fromEntries(files)));
  return files;
};

/**
 * The one pattern of the official files that is wrong: `TSChaveNFSe` takes the letters of a CNPJ six places early, so that no key with letters
 * passes. The corrected pattern is that of the same key inside `TSIdPedRegEvt` (docs/national-system.md#cnpj-with-letters).
 */
const CORRECTION = {
  file: 'tiposSimples_v1.01.xsd',
  official: '<xs:pattern value="[0-9]{6}([0-9A-Z]{14})[0-9]{30}"/>',
  right: '<xs:pattern value="[0-9]{8}(1[0-9]{14}|2[0-9A-Z]{14})[0-9]{27}"/>',
} as const;

const corrected = (name: string, source: Buffer): Buffer => {
  if (name !== CORRECTION.file) return source;
  const text = source.toString('utf8');
  // A new bundle may have another pattern; then a person has to look at the correction again.
  if (text.split(CORRECTION.official).length !== 2) throw new Error(`${name} no longer holds the pattern to correct`);
  return Buffer.from(text.replace(CORRECTION.official, CORRECTION.right), 'utf8');
};

const validators = new Map<DocumentKind, XsdValidator>();

const validatorOf = (kind: DocumentKind): XsdValidator => {
  const validator = validators.get(kind) ?? compile(kind);
  validators.set(kind, validator);
  return validator;
};

const compile = (kind: DocumentKind): XsdValidator => {
  const url = `${SCHEME}${kind}_v1.01.xsd`;
  const source = schemaFiles().get(url);
  if (source === undefined) throw new Error(`the schema ${url} is missing`);
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
