import {
  type DocumentSigner,
  SchemaViolation,
  type SignedDocument,
  type SigningIdentity,
} from '../../ports/documents.js';
import { type DocumentKind, openSchemas } from '../../xml/schema.js';
import { signDocument } from '../../xml/sign.js';

/** Signs as the national system recommends, after the official schema has accepted the document (domain.md section 6). */
export const createDocumentSigner = (): DocumentSigner => {
  const schemas = openSchemas();
  const signAs =
    (kind: DocumentKind, signedElementName: string) =>
    (unsigned: string, identity: SigningIdentity): SignedDocument => {
      const faults = schemas.validate(kind, Buffer.from(unsigned, 'utf8'));
      if (faults.length > 0) throw new SchemaViolation(faults.join('; '));
      const id = /^<[A-Za-z]+ [^>]*><[A-Za-z]+ Id="([^"]+)">/.exec(unsigned)?.[1] ?? '';
      return signDocument(unsigned, { signedElementName, id, ...identity, algorithm: 'c14n' });
    };
  return { signDps: signAs('DPS', 'infDPS'), signPedRegEvento: signAs('pedRegEvento', 'infPedReg') };
};
