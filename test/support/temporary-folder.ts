import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Variable that names the folder of the run; its end removes that folder with all that is in it. */
export const RUN_FOLDERS = 'NFSE_RUN_FOLDERS';

/** A new folder for a test. The mutation run has no folder of the run and uses that of the system. */
export const temporaryFolder = (): string => mkdtempSync(join(process.env[RUN_FOLDERS] ?? tmpdir(), 'nfse-of-a-test-'));
