import { createHmac } from 'node:crypto';
import type { Mode } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { Fingerprints } from '../../ports/duplicate-window.js';
import type { GuardKey, GuardKeys } from '../../ports/guard-keys.js';
import type { KeyOwner } from '../../ports/idempotency-keys.js';

/**
 * What the guards and the acceptance keep of a request, as `hmac:1:<key tag>:<base64url>`: HMAC-SHA-256 over the plain hash. The plain hash is
 * never stored, because the rest could be guessed from it with the amount and the company (ADR 32).
 */
export type GuardHashes = {
  /** Of the body of a request with an Idempotency-Key, for the event and the key's row. */
  bodyHash(owner: KeyOwner, plain: string, at: Instant): Promise<string>;
  /** Whether a stored hash is of this body, under any of the keys. `unknown` when that key is gone. */
  compareBody(stored: string, owner: KeyOwner, plain: string): Promise<'same' | 'other' | 'unknown'>;
  /** `seconds`: the length of the duplicate window. */
  fingerprints(mode: Mode, plain: string, at: Instant, seconds: number): Promise<Fingerprints>;
};

export const guardHashes = (keys: GuardKeys): GuardHashes => ({
  bodyHash: async (owner, plain, at) => {
    const [key] = await keys.inUse(owner.mode, at, 0);
    return bodyHashUnder(key, owner, plain);
  },
  compareBody: async (stored, owner, plain) => {
    const tag = tagOf(stored);
    // Rows and events older than version 2 of the acceptance hold the plain hash.
    if (tag === undefined) return stored === plain ? 'same' : 'other';
    const key = await keys.ofTag(tag);
    if (key === undefined) return 'unknown';
    return stored === bodyHashUnder({ tag, key }, owner, plain) ? 'same' : 'other';
  },
  fingerprints: async (mode, plain, at, seconds) => {
    const [newest, ...others] = await keys.inUse(mode, at, seconds);
    const under = (key: GuardKey): string => hashed(key, `window|${plain}`);
    return { placed: [under(newest), ...others.map(under)], legacy: plain };
  },
});

/** The hash covers its owner, so that equal bodies of two requests have different hashes. */
export const bodyHashUnder = (key: GuardKey, { mode, companyId, keyHash }: KeyOwner, plain: string): string =>
  hashed(key, ['body', mode, companyId, keyHash, plain].join('|'));

const PREFIX = 'hmac:1:';

const hashed = ({ tag, key }: GuardKey, text: string): string =>
  `${PREFIX}${tag}:${createHmac('sha256', key).update(text).digest('base64url')}`;

const tagOf = (stored: string): string | undefined =>
  stored.startsWith(PREFIX) ? stored.slice(PREFIX.length).split(':', 1)[0] : undefined;
