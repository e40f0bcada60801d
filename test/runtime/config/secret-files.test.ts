import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { unreadable, weaknessOf } from '../../../src/runtime/config/secret-files.js';

describe('a token for operators', () => {
  it.each([
    ['', 'at least 16 characters'],
    ['k7Qz!pW2mR9xT4v', 'at least 16 characters'],
    ['a'.repeat(40), 'at least 8 different characters'],
    ['passwordpassword', 'at least 8 different characters'],
    ['abcdefgh'.repeat(2), 'must not repeat a shorter text'],
    ['troubadour12troubadour12trou', 'must not repeat a shorter text'],
    ['0123456789abcdefghij', 'a row of neighbouring characters'],
    ['zyxwvutsrqponmlkji', 'a row of neighbouring characters'],
  ])('is refused as %j: %s', (token, why) => {
    const weakness = weaknessOf(token) ?? '';
    expect(weakness).toContain(why);
    if (token !== '') expect(weakness).not.toContain(token);
  });

  it('is taken when a generator made it, or a person chose words', () => {
    for (let n = 0; n < 500; n += 1) {
      expect(weaknessOf(randomBytes(24).toString('hex'))).toBeUndefined();
      expect(weaknessOf(randomBytes(16).toString('base64url'))).toBeUndefined();
    }
    expect(weaknessOf('correct-horse-battery-staple')).toBeUndefined();
  });
});

it.each([
  ['ENOENT', 'NATS_URL_FILE cannot be read: there is no such file'],
  ['EACCES', 'NATS_URL_FILE cannot be read (EACCES): the user of the service may not read the file'],
  ['EISDIR', 'NATS_URL_FILE cannot be read (EISDIR)'],
])('says after %s why a file cannot be read, and never its path', (code, line) => {
  const error = Object.assign(new Error("open 'nats://user:secret@host'"), { code });
  expect(unreadable('NATS_URL_FILE', error)).toBe(line);
});
