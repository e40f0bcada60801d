import { readFileSync } from 'node:fs';

/** GlobalSign Root R46, above the servers of Sefin Nacional: to be trusted explicitly (domain.md section 2). PEM. */
export const sefinTrustRoots = (): readonly string[] => [
  readFileSync(new URL('./roots/globalsign-root-r46.pem', import.meta.url), 'utf8'),
];
