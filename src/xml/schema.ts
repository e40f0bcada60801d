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
 * The faults of a document by the official XSDs of layout 1.01, empty when it is valid. They hold names, facets and lines, never values of the
 * document. Each schema is compiled once per process, when it is first needed.
 */
export const schemaFaults = (kind: DocumentKind, xml: Buffer): readonly string[] => {
  const opened = withXmlDocument(xml, (document) =>
    document.root.name === kind ? faultsOf(validatorOf(kind), document) : [`the root element is not ${kind}`],
  );
  return opened.ok ? opened.value : [opened.reason];
};

/** Compiles schemas now, because that takes up to 20 ms, which a running service cannot spare. */
export const compileSchemas = (...kinds: readonly DocumentKind[]): void => {
  for (const kind of kinds) validatorOf(kind);
};

const FOLDER = new URL('./xsd/v1.01/', import.meta.url);

/** Schema files include each other by relative name. This scheme resolves them in memory, without file system and network. */
const SCHEME = 'nfse-xsd://v1.01/';

let files: ReadonlyMap<string, Buffer> | undefined;

/** Loads and registers the files once, because libxml2 asks every provider that was ever registered. */
const schemaFiles = (): ReadonlyMap<string, Buffer> => {
  if (files !== undefined) return files;
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.xsd'));
  files = new Map(names.map((name) => [`${SCHEME}${name}`, readFileSync(new URL(name, FOLDER))]));
  xmlRegisterInputProvider(new XmlBufferInputProvider(Object.fromEntries(files)));
  return files;
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
    if (error instanceof XmlValidateError) return error.details.map(({ message }) => withoutValue(message.trim()));
    throw error;
  }
};

/** Removes the value that libxml2 quotes, which may be a person's name; element and facet say enough. */
const withoutValue = (message: string): string =>
  message
    .replace(/The value '.*' (is not|has)/s, 'The value $1')
    .replace(/: '.*' is not a valid value/s, ': not a valid value');
