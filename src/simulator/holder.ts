import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { cnpjOf } from '../certificates/holder.js';

/** The company that a certificate names. */
type Holder = { cnpj: string | undefined; name: string | undefined };

/** A cache by certificate: reading a certificate costs more than a signature check, and a company signs thousands of documents with it. */
const holders = new LRUCache<string, Holder, Buffer>({
  max: 1024,
  memoMethod: (_key, _stale, { context: der }) => ({ cnpj: cnpjOf(der), name: commonName(der)?.split(':')[0] }),
});

/** CNPJ of a DER certificate, and the name from its common name `NAME:CNPJ`. */
export const holderOf = (der: Buffer): Holder => holders.memo(der.toString('base64'), { context: der });

const commonName = (der: Buffer): string | undefined => /^CN=(.*)$/m.exec(new X509Certificate(der).subject)?.[1];
