import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../../src/domain/common/error-catalogue.js';
import { specificationFile } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';

const entries = Object.entries(errorCatalogue);

const contractFile = new URL('../../../docs/contract.md', import.meta.url);

/** Codes that the contract has and the interface specification lacks. */
const ADDED: readonly string[] = [];

const statuses = (): Record<string, number> => Object.fromEntries(entries.map(([code, { status }]) => [code, status]));

/** Codes and statuses of the rows of a page. */
const rowsOf = (page: URL, row: RegExp): Record<string, number> =>
  Object.fromEntries([...readFileSync(page, 'utf8').matchAll(row)].map(([, code, status]) => [code, Number(status)]));

describe('the error catalogue', () => {
  it('has exactly the codes and statuses of the contract', () => {
    expect(statuses()).toEqual(rowsOf(contractFile, /^\| CODE-([a-z_.]+) \| (\d{3})\b/gm));
  });

  itWith(
    'specification',
    'has exactly the codes and statuses of the interface specification, besides added ones',
    () => {
      const specified = rowsOf(specificationFile, /^\| ([a-z_.]+) \| (\d{3}) \|/gm);
      expect(Object.keys(specified).length).toBeGreaterThan(40);
      expect(ADDED.filter((code) => code in specified)).toEqual([]);
      const ofSpecification = Object.entries(statuses()).filter(([code]) => !ADDED.includes(code));
      expect(Object.fromEntries(ofSpecification)).toEqual(specified);
    },
  );

  it('names as repeatable only what the contract names (ERR-retryable-set)', () => {
    const retryable = entries.filter(([, entry]) => entry.retryable).map(([code]) => code);
    expect(retryable.sort()).toEqual([
      'idempotency_key_in_use',
      'internal_error',
      'rate_limit_exceeded',
      'service_unavailable',
    ]);
  });

  it('gives every status its family', () => {
    for (const [, { status, type }] of entries) {
      const family = { 401: 'authentication_error', 403: 'permission_error', 429: 'rate_limit_error' }[status];
      expect(type).toBe(family ?? (status >= 500 ? 'api_error' : 'invalid_request'));
    }
  });

  it.each(['nfse.country_unsupported', 'nfse.currency_unsupported'] as const)('%s: says capital letters', (code) => {
    expect(errorCatalogue[code].message).toContain('letras maiúsculas');
  });

  it.each([
    ['nfse.cnae_not_allowed', /do serviço prestado\. Sem cnae, conta a atividade principal;/],
    ['nfse.service_code_not_allowed', /GET \/v1\/activities\. Obras,/],
  ] as const)('%s: says where works, events and labour are issued', (code, addition) => {
    const { message } = errorCatalogue[code];
    expect(message).toMatch(addition);
    expect(message).toMatch(/obras, eventos e fornecimento de mão de obra .* no portal nacional/i);
  });

  it('never advises another activity than that of the service, with which a note would declare the wrong service', () => {
    for (const [, { message }] of entries) expect(message).not.toMatch(/outra atividade|um dos listados/i);
    for (const code of ['nfse.cnae_missing_ctribnac', 'nfse.cnae_missing_nbs'] as const)
      expect(errorCatalogue[code].message).toContain('Não use o código de outro serviço.');
  });

  it('speaks in whole sentences', () => {
    for (const [, { message }] of entries) expect(message).toMatch(/^.{20,}\.$/s);
  });
});
