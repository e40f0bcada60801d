import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { DocsSource } from './files.js';

const ofPackage = (name: string): string => createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
const ofOurs = (name: string): string => fileURLToPath(new URL(`./assets/${name}`, import.meta.url));

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The only files that are served; a name is never joined to a path. */
const files = {
  'style.css': { locate: () => ofOurs('style.css'), contentType: CSS },
  'init.js': { locate: () => ofOurs('init.js'), contentType: SCRIPT },
  'swagger-ui.css': { locate: () => ofPackage('swagger-ui.css'), contentType: CSS },
  'swagger-ui-bundle.js': { locate: () => ofPackage('swagger-ui-bundle.js'), contentType: SCRIPT },
} as const satisfies Record<string, { locate: () => string; contentType: string }>;

export type AssetName = keyof typeof files;

export const assetNames = Object.keys(files) as readonly AssetName[];

export const isAssetName = (name: string): name is AssetName => Object.hasOwn(files, name);

/** Where a page finds an asset. */
export type AssetPath = (name: AssetName) => string;

export type ReadText = (path: string) => Promise<string>;

/** Reading rejects when the installation lacks the file. */
export const assetSource = (name: AssetName, readText: ReadText = (path) => readFile(path, 'utf8')): DocsSource => {
  const { locate, contentType } = files[name];
  return { contentType, read: () => readText(locate()) };
};
