import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Language, sayIn } from '../../src/console/language.js';
import { certificatesPage } from '../../src/console/pages/certificates.js';
import type { PageContext } from '../../src/console/pages/layout.js';
import { indeterminatePage, invoicesPage } from '../../src/console/pages/lists.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { evolve } from '../../src/domain/invoice/evolve.js';
import { type InvoiceState, initialInvoice } from '../../src/domain/invoice/state.js';
import { openChromium } from '../support/chromium.js';
import { accepted, at, attempted, conflictFound, interrupted, T0 } from '../support/fixture/invoice.js';
import { describeWith } from '../support/needs.js';

/** A folder for pictures to look at; none are kept without it. */
const FOLDER = process.env.CONSOLE_WIDTHS;

const CNPJ = '12345678000195';
const REFERENCES = ['pedido-1', 'pedido-2026-0001', 'W'.repeat(64), 'pedido-de-outubro-2026-'.repeat(3).slice(0, 64)];
const AMOUNTS = [100, 150_000, 99_999_999_999, Number.MAX_SAFE_INTEGER];

const NAMES = ['ESTUDIO EXEMPLO DE DESENVOLVIMENTO LTDA', 'W'.repeat(150)];

const contextOf = (language: Language, name = NAMES[0] ?? ''): PageContext => {
  const say = sayIn(language);
  return {
    say,
    language,
    now: at(200_000),
    names: new Map([[CNPJ, name]]),
    behind: [],
    isLagKnown: true,
    operator: { name: 'maria', signedIn: false },
    isClosed: false,
    formToken: '',
    path: '/console/invoices',
    address: '/console/invoices',
    version: '0',
    simulatedModes: ['live', 'test'],
  };
};

const listOf = async (language: Language): Promise<string> => {
  const rows = REFERENCES.map((reference, index) => {
    const invoiceId = `0d5c84e${index}-8f8b-4a77-9c0c-a8a8b8d8c8f8`;
    const facts = { companyId: CNPJ, invoiceId, reference, amountInCents: AMOUNTS[index] ?? 0 };
    const life = [accepted(facts), attempted(1, 1), interrupted].slice(0, index + 1);
    const state = life.reduce<InvoiceState>(evolve, initialInvoice);
    const sentences = index < 2 ? [] : ['Não emita de novo: fale com o suporte.'];
    return { stream: invoiceStream('live', CNPJ, invoiceId), createdAt: T0, state, sentences };
  });
  const typed = { status: '', company: '', mode: '', since: '', until: '' };
  const shown = { rows, typed, older: undefined, newest: undefined, problem: undefined };
  return String(await invoicesPage(contextOf(language), shown));
};

/** Pages of companies, one with a name that has no place for a break. */
const companiesOf = async (language: Language): Promise<readonly string[]> => {
  const context = contextOf(language, NAMES[1]);
  const company = { cnpj: CNPJ, enabled: true, notAfter: at(8_000_000), isUnusable: false };
  const state = [
    accepted({ companyId: CNPJ }),
    attempted(1, 1),
    interrupted,
    conflictFound(1, 60),
  ].reduce<InvoiceState>(evolve, initialInvoice);
  const row = { stream: invoiceStream('live', CNPJ, '0d5c84e0-8f8b-4a77-9c0c-a8a8b8d8c8f8'), createdAt: T0, state };
  return await Promise.all(
    [
      certificatesPage(context, { lines: [company], refused: [], typed: '' }),
      indeterminatePage(context, { count: 1, oldest: [row] }),
    ].map(async (shown) => String(await shown)),
  );
};

describeWith('chromium', 'the list of invoices with the longest references and the largest amounts', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await openChromium();
    page = await browser.newPage();
  });
  afterAll(() => browser?.close());

  // 1272 is the last width at which rows are blocks; from 1280 on the card grows no more.
  it.each([390, 800, 1025, 1100, 1272, 1273, 1280, 1920])('stays inside its card, %i pixels wide', async (width) => {
    const style = await readFile('src/console/assets/style.css', 'utf8');
    await page.setViewportSize({ width, height: 844 });
    for (const language of ['pt', 'en'] as const) {
      await page.setContent(await listOf(language));
      await page.addStyleTag({ content: style });
      if (FOLDER !== undefined)
        await page.screenshot({ path: join(FOLDER, `${language}-${width}.png`), fullPage: true });
      const cut = "[...document.querySelectorAll('.amount')].filter((e) => e.getClientRects().length > 1).length";
      expect([language, await page.evaluate(cut)]).toEqual([language, 0]);
      const beyond = "[...document.querySelectorAll('.table')].map((e) => e.scrollWidth - e.clientWidth)";
      expect([language, await page.evaluate(beyond)]).toEqual([language, [0]]);
    }
  });

  it.each([390, 1100, 1273, 1280])(
    'a company without a break in its name stays inside its card, %i pixels wide',
    async (width) => {
      const style = await readFile('src/console/assets/style.css', 'utf8');
      await page.setViewportSize({ width, height: 844 });
      for (const language of ['pt', 'en'] as const)
        for (const text of await companiesOf(language)) {
          await page.setContent(text);
          await page.addStyleTag({ content: style });
          const beyond = "[...document.querySelectorAll('.table')].map((e) => e.scrollWidth - e.clientWidth)";
          expect([language, await page.evaluate(beyond)]).toEqual([language, [0]]);
        }
    },
  );
});
