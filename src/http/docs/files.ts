import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sha256Hex } from '../../app/hashes.js';

/** What a documentation path serves, in the two forms that it is sent in. */
export type DocsFile = {
  contentType: string;
  /** Of the content: another content has another version. */
  version: string;
  plain: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer>;
};

/** Gives the text of a file; called once, and again only after it has failed. */
export type DocsSource = { contentType: string; read(): Promise<string> };

export type Compress = (bytes: Uint8Array) => Promise<Uint8Array>;

const VERSION_LENGTH = 16;

/** Each file is read and compressed when it is first asked for, and then kept: a request costs neither. */
export const keepFiles = (compress: Compress = promisify<Uint8Array, Buffer>(gzip)) => {
  const kept = new Map<string, Promise<DocsFile>>();
  const make = async ({ contentType, read }: DocsSource): Promise<DocsFile> => {
    const plain = new TextEncoder().encode(await read());
    const version = sha256Hex(plain).slice(0, VERSION_LENGTH);
    return { contentType, version, plain, gzip: new Uint8Array(await compress(plain)) };
  };
  return (name: string, source: DocsSource): Promise<DocsFile> => {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const made = make(source);
    kept.set(name, made);
    made.catch(() => kept.delete(name));
    return made;
  };
};
