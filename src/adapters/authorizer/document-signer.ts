import { layoutOfDocument, publishedLayouts } from '../../domain/dps/layout.js';
import {
  type DocumentSigner,
  SchemaViolation,
  type SignedDocument,
  type SigningIdentity,
} from '../../ports/documents.js';
import { compileSchemas, type DocumentKind, schemaFaults } from '../../xml/schema.js';
import { leafBase64, signDocumentOffLoop, signedParts } from '../../xml/sign.js';

/**
 * Validates a document against the official schema of its layout, then signs it with C14N and rsa-sha256
 * (docs/national-system.md#algorithms). Validation takes well under a millisecond of the event loop, signing takes none (ADR 17). The methods throw
 * `SchemaViolation`.
 */
export const createDocumentSigner = (): DocumentSigner => {
  compileSentSchemas();
  const signAs =
    (kind: DocumentKind, signedElementName: string) =>
    async (unsigned: string, identity: SigningIdentity): Promise<SignedDocument> => {
      const faults = schemaFaults(layoutOfDocument(unsigned).schemas, kind, Buffer.from(unsigned, 'utf8'));
      if (faults.length > 0) throw new SchemaViolation(faults.join('; '));
      const id = /^<[A-Za-z]+ [^>]*><[A-Za-z]+ Id="([^"]+)">/.exec(unsigned)?.[1] ?? '';
      return signDocumentOffLoop(unsigned, { signedElementName, id, ...identity, algorithm: 'c14n' });
    };
  const signDps = signAs('DPS', 'infDPS');
  const signPedRegEvento = signAs('pedRegEvento', 'infPedReg');
  return {
    signDps,
    signPedRegEvento,
    renew: async (signed, identity) => {
      const parts = signedParts(signed.toString('utf8'));
      if (parts === undefined || parts.certificate === leafBase64(identity.certificatePem)) return undefined;
      const sign = parts.unsigned.startsWith('<DPS ') ? signDps : signPedRegEvento;
      return await sign(parts.unsigned, identity);
    },
  };
};

/** Compiles the schemas of all documents that are sent, once per process. A start does this while its engines open. */
export const compileSentSchemas = (): void => {
  for (const { schemas } of publishedLayouts()) compileSchemas(schemas, 'DPS', 'pedRegEvento');
};
