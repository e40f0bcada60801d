import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../../src/domain/common/error-catalogue.js';
import { createHarness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const OUTSIDE = /(?:src|href|url)\s*[=:(]\s*["']?(?:https?:)?\/\//i;

describe('GET /docs', () => {
  it('is a page that takes everything from this server', async () => {
    const { call, state } = createHarness();
    state.switchedOff = true;
    const response = await call('/docs', { key: 'none' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("base-uri 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    const html = await response.text();
    expect(html).not.toMatch(OUTSIDE);
    const targets = [...html.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, target = '']) => target);
    expect(targets).toContainEqual(expect.stringMatching(/^\/docs\/assets\/redoc\.standalone\.js\?v=[0-9a-f]{16}$/));
    for (const target of targets) expect((await call(target, { key: 'none' })).status).toBe(200);
  });

  it.each([
    ['style.css', 'text/css; charset=utf-8'],
    ['reference.js', 'text/javascript; charset=utf-8'],
    ['redoc.standalone.js', 'text/javascript; charset=utf-8'],
  ])('serves %s', async (name, contentType) => {
    const response = await createHarness().call(`/docs/assets/${name}`, { key: 'none' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(contentType);
    expect((await response.text()).length).toBeGreaterThan(100);
  });

  it.each([
    '/docs//',
    '/docs/guia/nope/',
    '/docs/errors/nope/',
    '/docs/collection.json/',
    '/docs/assets/package.json',
    '/docs/assets/..%2fpackage.json',
    '/docs/assets/__proto__',
    '/docs/errors/nope',
    '/docs/errors/constructor',
    '/openapi.yaml',
  ])('%s is route_not_found', async (path) => {
    await expectRefusal(await createHarness().call(path, { key: 'none' }), 404, 'route_not_found');
  });

  it.each(['/docs/', '/docs/guia/', '/docs/guia/repetir/', '/docs/errors/', '/docs/errors/not_found/?a=1'])(
    '%s leads to the page without the slash at the end',
    async (path) => {
      const response = await createHarness().call(path, { key: 'none' });
      const [address = ''] = path.split('?');
      const location = response.headers.get('location') ?? '';
      expect([response.status, location.startsWith('../')]).toEqual([301, true]);
      expect(new URL(location, `http://x/behind/a/proxy${address}`).pathname).toBe(
        `/behind/a/proxy${address.slice(0, -1)}`,
      );
      const kept = ['cache-control', 'x-content-type-options'].map((name) => response.headers.get(name));
      expect(kept).toEqual(['public, max-age=300', 'nosniff']);
    },
  );

  it.each(['/docs', '/openapi.json', '/docs/errors'])('POST %s is route_not_found', async (path) => {
    await expectRefusal(await createHarness().call(path, { method: 'POST' }), 404, 'route_not_found');
  });
});

/** Codes inside an invoice, with whether issuing again is safe (IERR-issue_failed to IERR-nfse.cancel_failed). */
const SAFE = {
  issue_failed: true,
  'nfse.not_processed': true,
  'nfse.issue_interrupted': false,
  'nfse.cancel_failed': false,
};
const INVOICE_CODES = Object.keys(SAFE);

describe('the page of a code inside an invoice', () => {
  it.each(Object.entries(SAFE))('%s says whether issuing again is safe: %s', async (code, isSafe) => {
    const response = await createHarness().call(`/docs/errors/${code}`, { key: 'none' });
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(html).not.toMatch(OUTSIDE);
    const [, answer = ''] =
      /<h2>É seguro emitir de novo\?<\/h2>\n<p class="(?:safe|never)"><strong>(\S+)/.exec(html) ?? [];
    expect(answer.replace(/\W+$/, '')).toBe(isSafe ? 'Sim' : 'Nunca');
    expect(html).toContain(`&quot;code&quot;: &quot;${code}&quot;`);
    expect(html).toMatch(/<ol>\n<li>[^<]+<\/li>/);
    // A repeat with the same key would show the failed invoice again, and its reference stays taken (IDEM-1, IDEM-6).
    expect(html.includes('outra Idempotency-Key')).toBe(code !== 'nfse.cancel_failed');
    expect(html.includes('nfse.reference_in_use')).toBe(isSafe);
  });

  it('nfse.cancel_failed says when another invoice is safe: not before the status is canceled', async () => {
    const html = await (await createHarness().call('/docs/errors/nfse.cancel_failed', { key: 'none' })).text();
    expect(html).toContain('<strong>Nunca, enquanto o status não for canceled.');
    expect(html).toContain('Só então é seguro emitir outra');
  });

  it('nfse.not_processed names both causes: the enablement of the company, and an outage', async () => {
    const html = await (await createHarness().call('/docs/errors/nfse.not_processed', { key: 'none' })).text();
    expect(html).toContain('a habilitação da empresa, que o suporte corrige, ou uma interrupção');
  });
});

describe('GET /docs/errors/<code>', () => {
  it.each([
    ['nfse.cnae_not_allowed', '<code>cnae</code>'],
    ['nfse.not_cancelable', 'varia ou nenhum'],
  ])('%s names the field that the API sends: %s', async (code, field) => {
    const html = await (await createHarness().call(`/docs/errors/${code}`, { key: 'none' })).text();
    expect(html).toContain(`<tr><th>Campo</th><td>${field}</td></tr>`);
    expect(html.includes('&quot;param&quot;')).toBe(field.startsWith('<code>'));
  });

  it('is listed once, in its group', async () => {
    const html = await (await createHarness().call('/docs/errors', { key: 'none' })).text();
    const listed = [...html.matchAll(/<td><a href="\/docs\/errors\/([^"]+)"/g)].map(([, code]) => code);
    expect(listed.toSorted()).toEqual([...Object.keys(errorCatalogue), ...INVOICE_CODES].toSorted());
    const groups = [...html.matchAll(/<section id="(\w+)">\n<h2>[^<]+<\/h2>/g)].map(([, id]) => id);
    expect(groups.length).toBeGreaterThan(5);
    expect([...html.matchAll(/<li><a href="#(\w+)">/g)].map(([, id]) => id)).toEqual(groups);
    const sections = html.match(/<section[\s\S]*?<\/section>/g) ?? [];
    expect(sections.filter((section) => !section.includes('/docs/errors/'))).toEqual([]);
  });

  it.each([
    ['nfse.reference_in_use', 'nfse_0190a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b'],
    ['duplicate_suspected', 'nfse_0190a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b'],
    ['idempotency_key_reuse', 'nfse_0190a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b'],
    ['nfse.currency_unsupported', 'GBP, USD, …'],
    ['nfse.export_incomplete', 'customer.tax_id_absence_reason'],
    ['nfse.export_incomplete', 'customer.name'],
    ['nfse.customer_type_conflict', 'br (o padrão)'],
    ['invalid_request', 'Você quis dizer amount_in_cents?'],
  ])('%s shows an answer of the API, with %s', async (code, text) => {
    const html = await (await createHarness().call(`/docs/errors/${code}`, { key: 'none' })).text();
    const [, example = ''] = html.split('<h2>Exemplo</h2>');
    expect(example).toContain(text);
  });

  it.each(Object.entries(errorCatalogue))('%s: cause, what to do, retryable, example', async (code, entry) => {
    const { call, state } = createHarness();
    state.switchedOff = true;
    const response = await call(`/docs/errors/${code}`, { key: 'none' });
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(html).not.toMatch(OUTSIDE);
    for (const heading of ['Causa', 'O que fazer', 'Repetir a mesma requisição resolve?', 'Exemplo'])
      expect(html).toMatch(new RegExp(`<h2>${heading.replace('?', '\\?')}</h2>\\s*<(p|pre)>[^<]{5,}`));
    expect(html).toContain(`retryable: ${entry.retryable}`);
    expect(html).toContain(`<td>${entry.status}</td>`);
    expect(html).toContain(`&quot;code&quot;: &quot;${code}&quot;`);
  });
});
