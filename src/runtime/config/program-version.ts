import { readFileSync } from 'node:fs';

/** Seen from the sources, and from `dist`, one folder deeper. */
const PACKAGE_FILES = ['../../../package.json', '../../../../package.json'];

/** The version of the package; `unknown` where package.json is missing. */
export const programVersion = (): string => {
  for (const file of PACKAGE_FILES) {
    const version = versionIn(new URL(file, import.meta.url));
    if (version !== undefined) return version;
  }
  return 'unknown';
};

const versionIn = (file: URL): string | undefined => {
  try {
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown; version?: unknown };
    return name === 'nfse-issuance-service' && typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
};
