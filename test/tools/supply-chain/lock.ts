import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../root.js';

/** An entry of package-lock.json, as far as the tools read it. */
type Entry = {
  name?: string;
  version?: string;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  os?: readonly string[];
  cpu?: readonly string[];
  hasInstallScript?: boolean;
  optionalDependencies?: Readonly<Record<string, string>>;
};

export type Lock = { packages: Readonly<Record<string, Entry>> };

export type Manifest = {
  name: string;
  version: string;
  description: string;
  devDependencies?: Readonly<Record<string, string>>;
  allowScripts: Readonly<Record<string, boolean>>;
};

/** A package at its place below the root; `name` is the real one, also of an alias. */
export type LockedPackage = { path: string; name: string; version: string; entry: Entry };

const json = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));

export const readLock = (): Lock => json('package-lock.json') as Lock;

export const readManifest = (): Manifest => json('package.json') as Manifest;

/** Every package of the lock file, for all platforms, in the order of the lock file. */
export const lockedPackages = ({ packages }: Lock): readonly LockedPackage[] =>
  Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      name: entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: entry.version ?? '',
      entry,
    }));

/** What `npm ci --omit=dev` would install on some platform or other. `devOptional` counts: npm installs those too. */
export const productionPackages = (lock: Lock): readonly LockedPackage[] =>
  lockedPackages(lock).filter(({ entry }) => entry.dev !== true);

/** Only one platform installs it. */
export const isForOnePlatform = ({ entry }: LockedPackage): boolean =>
  entry.os !== undefined || entry.cpu !== undefined;
