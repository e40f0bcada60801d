import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.js';

const SOURCE = join(ROOT, 'test/tools/api-clients');

/** Where the linters and generators are installed and write; none of it is part of the repository. */
export const API_CLIENTS = join(ROOT, 'out/api-clients');

const LOCK = 'package-lock.json';

/** Whether the packages of the lock file of today are installed. */
export const hasApiClients = (): boolean => {
  const installed = join(API_CLIENTS, 'node_modules/.package-lock.json');
  const lock = join(API_CLIENTS, LOCK);
  return existsSync(installed) && readFileSync(lock, 'utf8') === readFileSync(join(SOURCE, LOCK), 'utf8');
};

/** Installs the linters and generators; no package may run a script. */
const install = (): void => {
  copyApiClients();
  const options = { cwd: API_CLIENTS, stdio: 'inherit' } as const;
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options);
};

/** Puts the scripts and programs beside the installed packages. The programs are no `.ts` here, because their types are generated. */
export const copyApiClients = (): void => {
  cpSync(SOURCE, API_CLIENTS, { recursive: true });
  for (const name of CLIENTS) cpSync(join(SOURCE, `${name}.ts.txt`), join(API_CLIENTS, `${name}.ts`));
};

/** Programs that issue an invoice, each with what one generator made. */
export const CLIENTS = ['openapi-fetch', 'hey-api'] as const;

if (process.argv[1] === import.meta.filename) install();
