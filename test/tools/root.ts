import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, also for code that was compiled into a folder below it. */
const above = (folder: string): string =>
  existsSync(join(folder, 'package-lock.json')) ? folder : above(dirname(folder));

export const ROOT = join(above(dirname(fileURLToPath(import.meta.url))), '/');
