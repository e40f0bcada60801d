import { readFileSync } from 'node:fs';

/** From the sources, and one folder deeper from what `npm run build` made. */
const PLACES = ['../../package.json', '../../../package.json'];

/** The package's own version; `unknown` where its file was left behind. */
export const programVersion = (): string => {
  for (const place of PLACES) {
    const version = versionIn(new URL(place, import.meta.url));
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
