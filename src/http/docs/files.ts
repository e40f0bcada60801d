import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sha256Hex } from '../../app/event-store/hashes.js';

/** Content of a documentation path, plain and compressed. */
export type DocsFile = {
  contentType: string;
  /** Changes with the content. */
  version: string;
  plain: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer>;
};

/** Source of a file's text; read once, and again only after a failure. */
type DocsSource = { contentType: string; read(): Promise<string> };

const VERSION_LENGTH = 16;

/** Reads and compresses each file at its first request and keeps it, so that later requests cost neither. */
export const keepFiles = () => {
  const compress = promisify<Uint8Array, Buffer>(gzip);
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

const ofOurs = (name: string): string => fileURLToPath(new URL(`./assets/${name}`, import.meta.url));

const RENDERER = 'redoc.standalone.js';

/** A build has it beside our own assets, and needs no package then; the sources take it from the package. */
const rendererPath = (): string => {
  const built = ofOurs(RENDERER);
  return existsSync(built) ? built : createRequire(import.meta.url).resolve(`redoc/bundles/${RENDERER}`);
};

/** The renderer's only outside address, a logo at its maker's. With an empty image it leaves the place out. */
const OUTSIDE_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The only files that are served; a requested name is never joined to a path. */
const files = {
  'style.css': { locate: () => ofOurs('style.css'), contentType: CSS },
  'search.js': { locate: () => ofOurs('search.js'), contentType: SCRIPT },
  'reference.js': { locate: () => ofOurs('reference.js'), contentType: SCRIPT },
  [RENDERER]: { locate: rendererPath, contentType: SCRIPT },
} as const satisfies Record<string, { locate: () => string; contentType: string }>;

type AssetName = keyof typeof files;

export const assetNames = Object.keys(files) as readonly AssetName[];

export const isAssetName = (name: string): name is AssetName => Object.hasOwn(files, name);

/** Path of an asset, for pages. */
export type AssetPath = (name: AssetName) => string;

/** `read` rejects when the installation lacks the file. */
export const assetSource = (name: AssetName): DocsSource => {
  const { locate, contentType } = files[name];
  const read = async () => (await readFile(locate(), 'utf8')).replaceAll(OUTSIDE_LOGO, 'data:,');
  return { contentType, read };
};
