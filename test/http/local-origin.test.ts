import { expect, it } from 'vitest';
import { localOrigin } from '../../src/http/local-origin.js';

it.each([
  ['127.0.0.1', 'http://127.0.0.1:3000'],
  ['nfse.example', 'http://nfse.example:3000'],
  ['::1', 'http://[::1]:3000'],
  ['0.0.0.0', 'http://localhost:3000'],
  ['::', 'http://localhost:3000'],
])('a server that listens on %s is opened at %s', (host, origin) => {
  expect(localOrigin(host, 3000)).toBe(origin);
});
