import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const ofPackage = (name: string): string => createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`);
const ofOurs = (name: string): string => fileURLToPath(new URL(`./assets/${name}`, import.meta.url));

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The only files that are served; a name is never joined to a path. */
const files: Readonly<Record<string, { locate: () => string; contentType: string }>> = {
  'style.css': { locate: () => ofOurs('style.css'), contentType: CSS },
  'init.js': { locate: () => ofOurs('init.js'), contentType: SCRIPT },
  'swagger-ui.css': { locate: () => ofPackage('swagger-ui.css'), contentType: CSS },
  'swagger-ui-bundle.js': { locate: () => ofPackage('swagger-ui-bundle.js'), contentType: SCRIPT },
};

export const assetNames: readonly string[] = Object.keys(files);

/** A file of the docs page, read once it is asked for. Rejects when the installation lacks it. */
export const loadAsset = async (name: string): Promise<{ content: string; contentType: string } | undefined> => {
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (file === undefined) return undefined;
  return { content: await readFile(file.locate(), 'utf8'), contentType: file.contentType };
};
