import { readFileSync } from 'node:fs';
import {
  XmlBufferInputProvider,
  XmlDocument,
  XmlValidateError,
  XsdValidator,
  xmlRegisterInputProvider,
} from 'libxml2-wasm';
import { withXmlDocument } from './document.js';

export type DocumentKind = 'DPS' | 'NFSe' | 'pedRegEvento' | 'evento';

export type Schemas = {
  /** The faults found, empty when valid. Values of the document never appear in them, only names, facets and lines. */
  validate(kind: DocumentKind, xml: Buffer): readonly string[];
};

/**
 * The official XSDs of layout 1.01, each compiled once and kept for the life of the process: those of `soon` now, because that
 * takes up to 20 ms and a service that runs has no such moment, the others when first needed.
 */
export const openSchemas = (soon: readonly DocumentKind[] = []): Schemas => {
  for (const kind of soon) validatorOf(kind);
  return {
    validate: (kind, xml) => {
      const opened = withXmlDocument(xml, (document) =>
        document.root.name === kind ? faultsOf(validatorOf(kind), document) : [`the root element is not ${kind}`],
      );
      return opened.ok ? opened.value : [opened.reason];
    },
  };
};

const FILES = [
  'DPS_v1.01.xsd',
  'NFSe_v1.01.xsd',
  'evento_v1.01.xsd',
  'pedRegEvento_v1.01.xsd',
  'tiposComplexos_v1.01.xsd',
  'tiposEventos_v1.01.xsd',
  'tiposSimples_v1.01.xsd',
  'xmldsig-core-schema.xsd',
] as const;

/** Schema files include each other by relative name; this scheme keeps them away from the file system and the network. */
const SCHEME = 'nfse-xsd://v1.01/';

let files: ReadonlyMap<string, Buffer> | undefined;

/** Registered once: libxml2 asks every provider that was ever registered. */
const schemaFiles = (): ReadonlyMap<string, Buffer> => {
  if (files !== undefined) return files;
  const loaded = FILES.map((name) => [name, readFileSync(new URL(`./xsd/v1.01/${name}`, import.meta.url))] as const);
  const provided = Object.fromEntries(loaded.map(([name, bytes]) => [`${SCHEME}${name}`, bytes]));
  xmlRegisterInputProvider(new XmlBufferInputProvider(provided));
  files = new Map(loaded);
  return files;
};

const validators = new Map<DocumentKind, XsdValidator>();

const validatorOf = (kind: DocumentKind): XsdValidator => {
  const validator = validators.get(kind) ?? compile(kind);
  validators.set(kind, validator);
  return validator;
};

const compile = (kind: DocumentKind): XsdValidator => {
  const name = `${kind}_v1.01.xsd`;
  const source = schemaFiles().get(name);
  if (source === undefined) throw new Error(`the schema ${name} is missing`);
  const xsd = XmlDocument.fromBuffer(source, { url: `${SCHEME}${name}` });
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

/** libxml2 quotes the offending value, which may be a person's name; the element and the facet say enough. */
const withoutValue = (message: string): string =>
  message
    .replace(/The value '.*' (is not|has)/s, 'The value $1')
    .replace(/: '.*' is not a valid value/s, ': not a valid value');
