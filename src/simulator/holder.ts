import { X509Certificate } from 'node:crypto';
import { cnpjOf } from '../certificates/holder.js';

/** Who a certificate belongs to. */
export type Holder = { cnpj: string | undefined; name: string | undefined };

/** A company signs thousands of documents with one certificate; reading it costs more than a signature check. */
const holders = new Map<string, Holder>();

const MAX_HOLDERS = 1024;

/** CNPJ and the name before it in `NAME:CNPJ`, from a DER certificate. */
export const holderOf = (der: Buffer): Holder => {
  const key = der.toString('base64');
  const known = holders.get(key);
  if (known !== undefined) return known;
  if (holders.size >= MAX_HOLDERS) holders.clear();
  const holder = { cnpj: cnpjOf(der), name: commonName(der)?.split(':')[0] };
  holders.set(key, holder);
  return holder;
};

/** The first eight characters name the company, the next four the establishment: a head office signs for its branches. */
export const isSameCompany = (a: string, b: string): boolean => a.slice(0, 8) === b.slice(0, 8);

const commonName = (der: Buffer): string | undefined => /^CN=(.*)$/m.exec(new X509Certificate(der).subject)?.[1];
