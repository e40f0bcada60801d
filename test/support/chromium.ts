import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Four times the time that Playwright gives. */
const STARTS_WITHIN_MS = 120_000;

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The first browser of this kind on the path; undefined when there is none. */
export const chromiumProgram = (): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

/** Headless. Root may not use the browser's own sandbox; nothing but our pages is opened. */
export const openChromium = (): Promise<Browser> => {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error('no chromium on the path');
  const args = process.geteuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args: [...args, '--disable-dev-shm-usage'], timeout: STARTS_WITHIN_MS });
};
