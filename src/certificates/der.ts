import type forge from 'node-forge';
import asn1 from 'node-forge/lib/asn1.js';

export type Node = forge.asn1.Asn1;

/** The members of `tbsCertificate`. Throws for bytes that are no DER. */
export const tbsOf = (certificateDer: Buffer): readonly Node[] =>
  listOf(listOf(asn1.fromDer(certificateDer.toString('binary')))[0]);

/** DER of the value of an extension; undefined for a certificate without it. */
export const extensionOf = (tbs: readonly Node[], id: string): string | undefined => {
  const wrapper = tbs.find(({ tagClass, type }) => tagClass === asn1.Class.CONTEXT_SPECIFIC && Number(type) === 3);
  const extension = listOf(listOf(wrapper)[0]).find((one) => oidOf(listOf(one)[0]) === id);
  return extension === undefined ? undefined : bytesOf(listOf(extension).at(-1));
};

export const listOf = (node: Node | undefined): readonly Node[] =>
  node !== undefined && Array.isArray(node.value) ? node.value : [];

export const bytesOf = (node: Node | undefined): string => (typeof node?.value === 'string' ? node.value : '');

export const oidOf = (node: Node | undefined): string =>
  node?.type === asn1.Type.OID && node.tagClass === asn1.Class.UNIVERSAL ? asn1.derToOid(bytesOf(node)) : '';
