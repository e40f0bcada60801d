import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { supportStream } from '../../src/domain/audit/events.js';
import { openChromium } from '../support/chromium.js';
import {
  type ConsoleServiceHarness,
  DOCUMENT,
  openConsoleServiceHarness,
  pagesOf,
  SCRIPT,
} from '../support/harness/console-service.js';
import { describeWith } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const WIDTHS = [390, 400, 800, 1280] as const;

describeWith('chromium', 'the console in a browser', () => {
  let harness: ConsoleServiceHarness;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const refused: string[] = [];
  const foreign: string[] = [];
  beforeAll(async () => {
    [harness, browser] = await Promise.all([openConsoleServiceHarness(), openChromium()]);
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    refused.length = 0;
    foreign.length = 0;
    page.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
    page.on('request', (request) => {
      if (!request.url().startsWith(harness.origin)) foreign.push(request.url());
    });
  });
  afterEach(() => context.close());

  const open = (path: string) => page.goto(`${harness.origin}/console${path}`);
  const pages = () => pagesOf(harness);

  it('begins no rebuild and tries nothing again at Enter in the field for the name', async () => {
    for (const path of ['/projections', '/parked']) {
      await open(path);
      await page.locator('input[name=operator]').fill('maria');
      await page.locator('input[name=operator]').press('Enter');
      await page.waitForTimeout(300);
      // A form that is sent leads to another address.
      expect(page.url()).toBe(`${harness.origin}/console${path}`);
    }
  });

  it.each(WIDTHS)('shows every page %i pixels wide without anything beside the screen', async (width) => {
    await page.setViewportSize({ width, height: 844 });
    for (const [name, path] of pages()) {
      expect((await open(path))?.status(), name).toBe(200);
      const beside = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect([name, beside]).toEqual([name, 0]);
    }
    expect(refused).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('shows a script that a customer wrote as text, in every field, and runs none of it', async () => {
    await open(`/invoices/${harness.ids.indeterminate}`);
    await page.getByRole('button', { name: 'Show them' }).click();
    // Whole: what is read or counted as soon as a page begins may be half of it.
    await page.waitForURL('**/reveal#personal');
    const shown = await page.locator('main').innerText();
    expect(shown.split(SCRIPT).length - 1).toBeGreaterThanOrEqual(4);
    expect(await page.title()).toContain(harness.ids.indeterminate);
    expect(await page.locator('main img, main script').count()).toBe(0);
    await open('');
    await page.getByLabel('Id, reference, access key').fill(SCRIPT);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(`**/console/invoices/${harness.ids.indeterminate}`);
    expect(await page.title()).toContain(harness.ids.indeterminate);
    await open('');
    await page.getByLabel('Id, reference, access key').fill(`${SCRIPT}.`);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL('**/console/search');
    expect(await page.locator('main').innerText()).toContain(`${SCRIPT}.`);
    expect(await page.title()).toBe('Search · NFS-e support');
    expect(foreign).toEqual([]);
  });

  it('goes back from a found invoice to the form, and from one of several to their list', async () => {
    await open('');
    await page.getByLabel('Id, reference, access key').fill(harness.seen.reference);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(`**/console/invoices/${harness.ids.issued}`);
    await page.goBack();
    expect(await page.title()).toBe('Overview · NFS-e support');
    await open(`/search?${new URLSearchParams({ text: harness.seen.reference, by: 'reference' })}`);
    await page.getByRole('link', { name: harness.ids.issued }).click();
    await page.waitForURL(`**/console/invoices/${harness.ids.issued}`);
    await page.goBack();
    expect(await page.title()).toBe('Search · NFS-e support');
  });

  it('shows what was revealed where it is', async () => {
    await open(`/invoices/${harness.ids.indeterminate}`);
    await page.getByRole('button', { name: 'Show them' }).click();
    await page.waitForURL('**/reveal#personal');
    const place = 'document.getElementById("personal").getBoundingClientRect().top';
    await expect.poll(() => page.evaluate(`${place} >= 0 && ${place} < innerHeight`)).toBe(true);
  });

  it('reloads an open invoice, unless somebody types or has the focus on something', async () => {
    await page.clock.install();
    await open(`/invoices/${harness.ids.open}`);
    const isMarked = () => page.evaluate<boolean>('window.marked === true');
    const pass = async (): Promise<void> => {
      await page.evaluate('window.marked = true');
      await page.clock.runFor(10_500);
    };
    const stays = async (): Promise<boolean> => {
      await pass();
      await page.waitForTimeout(300);
      return await isMarked();
    };
    expect(await page.getByText('Reloads itself every 10 s').isVisible()).toBe(true);
    await pass();
    await expect.poll(isMarked).toBe(false);
    const name = page.getByLabel('Your name');
    await name.fill('Maria Suporte');
    expect(await stays()).toBe(true);
    await name.blur();
    expect(await stays()).toBe(true);
    expect(await name.inputValue()).toBe('Maria Suporte');
    await open(`/invoices/${harness.ids.open}`);
    await page.getByRole('button', { name: 'Show them' }).focus();
    expect(await stays()).toBe(true);
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const without = await plain.newPage();
    await without.goto(`${harness.origin}/console/invoices/${harness.ids.open}`);
    expect(await without.getByText('Reloads itself').count()).toBe(1);
    expect(await without.getByText('Reloads itself').isVisible()).toBe(false);
    expect(await without.getByRole('link', { name: 'Refresh' }).isVisible()).toBe(true);
    await plain.close();
  });

  it('prints an invoice whole, without what only a screen can use', async () => {
    await page.emulateMedia({ media: 'print' });
    await open(`/invoices/${harness.ids.indeterminate}`);
    for (const gone of ['nav', 'section.act', 'button', 'a.skip'])
      expect([gone, await page.locator(gone).first().isVisible()]).toEqual([gone, false]);
    expect(await page.evaluate('[document.querySelector("pre")].map((e) => e.scrollHeight - e.clientHeight)')).toEqual([
      0,
    ]);
    await open('/projections');
    expect(await page.getByRole('table').isVisible()).toBe(true);
  });

  it('would not run a script even if one got into a page', async () => {
    await open('');
    await page.evaluate(`document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(SCRIPT)})`);
    await page.evaluate(
      `{ const s = document.createElement('script'); s.textContent = "document.title='owned'"; document.body.append(s); }`,
    );
    await expect.poll(() => refused.join()).toContain('Content Security Policy');
    expect(await page.title()).toBe('Overview · NFS-e support');
  });

  it('is used from the keyboard alone, from the skip link to the result', async () => {
    await open('');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('text');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.type(DOCUMENT);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/search');
    expect(await page.getByRole('rowheader').count()).toBe(3);
    expect(page.url()).not.toContain(DOCUMENT);
    expect(await page.locator('main').innerText()).not.toContain('52998224725');
  });

  it.each(['pt-BR', 'en'])('has no fault that axe finds on any page in %s', async (locale) => {
    const own = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale });
    const shown = await own.newPage();
    for (const [name, path] of pages()) {
      await shown.goto(`${harness.origin}/console${path}`);
      await shown.evaluate(axe.source);
      const faults = await shown.evaluate(
        `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map((n) => n.html).join(' ')))`,
      );
      expect([name, faults]).toEqual([name, []]);
    }
    await own.close();
  });

  it('speaks Portuguese unless English is asked for, and keeps the language that was chosen', async () => {
    const own = await browser.newContext({ locale: 'pt-BR' });
    const shown = await own.newPage();
    await shown.goto(`${harness.origin}/console`);
    expect(await shown.title()).toBe('Visão geral · Suporte NFS-e');
    await shown.getByRole('link', { name: 'English' }).click();
    await shown.waitForURL('**/console?lang=en');
    expect(await shown.title()).toBe('Overview · NFS-e support');
    await shown.goto(`${harness.origin}/console/parked`);
    expect(await shown.title()).toBe('Parked work · NFS-e support');
    await own.close();
  });

  it('copies a key by its button, which is there only with the script', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(`/invoices/${harness.ids.issued}`);
    await page.getByRole('button', { name: 'Copy the key' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Copy the key' }).innerText()).toBe('Copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(harness.seen.accessKey);
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const without = await plain.newPage();
    await without.goto(`${harness.origin}/console/invoices/${harness.ids.issued}`);
    expect(await without.getByRole('button', { name: 'Copy the key' }).count()).toBe(0);
    await plain.close();
  });

  it('filters the list of invoices from the keyboard, and leads to one of them', async () => {
    await open('/invoices');
    expect(await page.getByRole('rowheader').count()).toBe(4);
    await page.getByLabel('Status').focus();
    await page.keyboard.type('failed');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Filter' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/invoices?status=failed**');
    expect(await page.getByRole('rowheader').count()).toBe(1);
    await page.getByRole('link', { name: harness.ids.refused }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/invoices/${harness.ids.refused}`);
  });

  it('has a name for every field, button, table and landmark', async () => {
    for (const [name, path] of pages()) {
      await open(path);
      const unnamed = await page.evaluate(`[
        ...[...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter((e) => e.labels.length === 0),
        ...[...document.querySelectorAll('button')].filter((e) => (e.ariaLabel ?? e.textContent).trim() === ''),
        ...[...document.querySelectorAll('table')].filter((e) => e.caption === null),
      ].map((e) => e.outerHTML)`);
      expect([name, unnamed]).toEqual([name, []]);
      for (const landmark of ['banner', 'navigation', 'main', 'contentinfo'] as const)
        expect([name, landmark, await page.getByRole(landmark).count()]).toEqual([name, landmark, 1]);
      expect([name, await page.getByRole('heading', { level: 1 }).count()]).toEqual([name, 1]);
    }
  });

  it.each(['light', 'dark'] as const)('is readable in %s colours: 4.5 to 1 or more', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    for (const [name, path] of pages()) {
      await open(path);
      expect([name, await page.evaluate(`(${CONTRASTS})()`)]).toEqual([name, []]);
    }
  });
});

describeWith('chromium', 'the console behind a token, in a browser', () => {
  let harness: ConsoleServiceHarness;
  let browser: Browser;
  const token = randomBytes(24).toString('hex');
  beforeAll(async () => {
    const file = join(temporaryFolder(), 'operator-token');
    await writeFile(file, `${token}\n`);
    [harness, browser] = await Promise.all([
      openConsoleServiceHarness(SCRIPT, { OPERATOR_TOKEN_FILE: file }),
      openChromium(),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await harness?.close();
  });

  it('asks who is there, by keyboard, and puts acts on record under that name', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(`${harness.origin}/console/parked`);
    expect(page.url()).toBe(`${harness.origin}/console/sign-in?next=%2Fconsole%2Fparked`);
    await page.getByLabel('Your name').focus();
    await page.keyboard.type('maria');
    await page.keyboard.press('Tab');
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${harness.origin}/console/parked`);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: /^Try again: issue/ }).click();
    await page.waitForURL('**/console/parked?retried=1');
    const { events } = await harness.running.service.engines.store.load(supportStream);
    expect(events).toMatchObject([{ type: 'ParkedWorkRetried', metadata: { actor: 'support:maria' } }]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/console/sign-in');
    await page.goto(`${harness.origin}/console`);
    expect(page.url()).toBe(`${harness.origin}/console/sign-in`);
    await page.close();
  });
});

/** Runs in the page: every text whose contrast to its ground is below 4.5. */
const CONTRASTS = `() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { const c = parts(getComputedStyle(e).backgroundColor); return (c[3] ?? 1) > 0 || !e.parentElement ? c : ground(e.parentElement); };
  return [...document.body.querySelectorAll('*')]
    .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== ''))
    .map((e) => { const [a, b] = [light(parts(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x); return [e.textContent.trim().slice(0, 30), (a + 0.05) / (b + 0.05)]; })
    .filter(([, ratio]) => ratio < 4.5);
}`;
