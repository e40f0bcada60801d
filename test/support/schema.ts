import { type DocumentKind, schemaFaults as faultsBy } from '../../src/xml/schema.js';

/** The faults by the schemas of today. */
export const schemaFaults = (kind: DocumentKind, xml: Buffer): readonly string[] => faultsBy('v1.01', kind, xml);
