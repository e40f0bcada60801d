import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../../src/domain/common/error-catalogue.js';
import { specificationFile } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';

const entries = Object.entries(errorCatalogue);

describe('the error catalogue', () => {
  itWith('specification', 'has exactly the codes and statuses of the interface specification', () => {
    const table = [...readFileSync(specificationFile, 'utf8').matchAll(/^\| ([a-z_.]+) \| (\d{3}) \|/gm)];
    const specified = Object.fromEntries(table.map(([, code, status]) => [code, Number(status)]));
    expect(Object.keys(specified).length).toBeGreaterThan(40);
    expect(Object.fromEntries(entries.map(([code, { status }]) => [code, status]))).toEqual(specified);
  });

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

  it('speaks in whole sentences', () => {
    for (const [, { message }] of entries) expect(message).toMatch(/^.{20,}\.$/s);
  });
});
