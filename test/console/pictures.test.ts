import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChromium } from '../support/chromium.js';
import { type ConsoleServiceHarness, openConsoleServiceHarness, pagesOf } from '../support/harness/console-service.js';
import { describeWith } from '../support/needs.js';

/** A folder for the pictures of docs/console; none are kept without it. */
const FOLDER = process.env.CONSOLE_PICTURES;

describeWith('chromium', 'pictures of the console', () => {
  let harness: ConsoleServiceHarness;
  let browser: Browser;
  beforeAll(async () => {
    [harness, browser] = await Promise.all([openConsoleServiceHarness('pedido-de-outubro'), openChromium()]);
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.close();
  });

  it.each([390, 1100, 1280])(
    'show each page, %i pixels wide, without words cut in two, and with each id and CNPJ on one line where there is room',
    async (width) => {
      const page = await browser.newPage({ viewport: { width, height: 844 }, locale: 'pt-BR' });
      if (FOLDER !== undefined) await mkdir(FOLDER, { recursive: true });
      for (const [name, path] of pagesOf(harness)) {
        await page.goto(`${harness.origin}/console${path}`);
        const scrolling =
          "[...document.querySelectorAll('.table')].filter((e) => e.scrollWidth > e.clientWidth).length";
        expect([name, await page.evaluate(scrolling)]).toEqual([name, 0]);
        const broken = "[...document.querySelectorAll('.whole')].filter((e) => e.getClientRects().length > 1).length";
        if (width === 1280) expect([name, await page.evaluate(broken)]).toEqual([name, 0]);
        const path_ = FOLDER === undefined || width === 1100 ? {} : { path: join(FOLDER, `${name}-${width}.png`) };
        expect((await page.screenshot({ ...path_, fullPage: true })).length).toBeGreaterThan(1_000);
      }
      await page.close();
    },
  );
});
