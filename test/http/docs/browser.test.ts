import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { chapterNames } from '../../../src/http/docs/guide.js';
import { listen, type RunningServer } from '../../../src/http/server.js';
import { openChromium } from '../../support/chromium.js';
import { createHarness } from '../../support/harness/http.js';
import { describeWith } from '../../support/needs.js';

const WIDTHS = [400, 1280] as const;

describeWith('chromium', 'the docs in a browser', () => {
  let server: RunningServer;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const foreign: string[] = [];
  beforeAll(async () => {
    [server, browser] = await Promise.all([
      listen(createHarness().app, { host: '127.0.0.1', port: 0 }),
      openChromium(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close(0);
  });
  beforeEach(async () => {
    page = await browser.newPage();
    complaints.length = 0;
    foreign.length = 0;
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== 'data:' && origin !== server.url) foreign.push(request.url());
    });
  });
  afterEach(async () => {
    await page.close();
    expect({ complaints, foreign }).toEqual({ complaints: [], foreign: [] });
  });

  const overflow = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  it.each(WIDTHS)('show the reference with samples in six languages, %i pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${server.url}/docs`);
    await page.locator('h2', { hasText: /^\s*Emitir\s*$/ }).waitFor();
    for (const label of ['curl', 'JavaScript', 'PHP', 'C#', 'Python', 'Java'])
      await expect.poll(() => page.getByRole('tab', { name: label, exact: true }).count()).toBe(7);
    await page.getByRole('tab', { name: 'Python', exact: true }).first().click();
    await expect.poll(() => page.getByText('urllib.request.urlopen').first().isVisible()).toBe(true);
    // Styles come from scripts: without them the policy would have cut them off.
    expect(await page.evaluate(`getComputedStyle(document.querySelector('[role=tab]')).display`)).toBe('inline-block');
    expect(await overflow()).toBe(0);
  });

  it.each(WIDTHS)('filter the list of codes, %i pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${server.url}/docs/errors`);
    const visible = () => page.locator('tbody tr:visible').count();
    const all = await visible();
    await page.getByLabel('Procurar').fill('EXPORTACAO');
    expect(await visible()).toBeLessThan(all / 4);
    expect(await page.getByRole('link', { name: 'nfse.export_incomplete' }).isVisible()).toBe(true);
    expect(await page.getByRole('status').textContent()).toMatch(/^\d+ códigos?$/);
    for (const word of ['duplicado', 'duplicidade']) {
      await page.getByLabel('Procurar').fill(word);
      expect(await page.getByRole('link', { name: 'duplicate_suspected' }).isVisible()).toBe(true);
    }
    await page.getByLabel('Procurar').fill('');
    expect(await visible()).toBe(all);
    expect(await overflow()).toBe(0);
  });

  it.each(WIDTHS)('show every page of the guide, %i pixels wide', async (width) => {
    await page.setViewportSize({ width, height: 900 });
    for (const path of ['/docs/guia', ...chapterNames.map((name) => `/docs/guia/${name}`)]) {
      await page.goto(`${server.url}${path}`);
      expect(await page.locator('h1').count()).toBe(1);
      expect([path, await overflow()]).toEqual([path, 0]);
    }
  });

  it('show the whole list of codes without scripts, and no field', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${server.url}/docs/errors`);
    expect(await plain.locator('tbody tr:visible').count()).toBeGreaterThan(45);
    expect(await plain.locator('#search').isVisible()).toBe(false);
    await context.close();
  });
});
