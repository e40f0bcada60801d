import {
  type DocumentSigner,
  SchemaViolation,
  type SignedDocument,
  type SigningIdentity,
} from '../../ports/documents.js';
import { type DocumentKind, openSchemas } from '../../xml/schema.js';
import { signDocumentOffLoop } from '../../xml/sign.js';

/**
 * Signs as the national system recommends, after the official schema has accepted the document (domain.md section 6). The
 * check takes well under a millisecond of the event loop, the signature none (ADR 17).
 */
export const createDocumentSigner = (): DocumentSigner => {
  const schemas = openSchemas(['DPS', 'pedRegEvento']);
  const signAs =
    (kind: DocumentKind, signedElementName: string) =>
    async (unsigned: string, identity: SigningIdentity): Promise<SignedDocument> => {
      const faults = schemas.validate(kind, Buffer.from(unsigned, 'utf8'));
      if (faults.length > 0) throw new SchemaViolation(faults.join('; '));
      const id = /^<[A-Za-z]+ [^>]*><[A-Za-z]+ Id="([^"]+)">/.exec(unsigned)?.[1] ?? '';
      return signDocumentOffLoop(unsigned, { signedElementName, id, ...identity, algorithm: 'c14n' });
    };
  return { signDps: signAs('DPS', 'infDPS'), signPedRegEvento: signAs('pedRegEvento', 'infPedReg') };
};
