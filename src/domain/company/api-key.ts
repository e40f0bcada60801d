import type { Mode } from '../shared/ids.js';

/** The text of a new key; `secret` is 32 random bytes in base64url. The prefix shows the mode to the key's owner. */
export const apiKeyText = (mode: Mode, secret: string): string => `svc_sk_${mode}_${secret}`;

/** The mode that the key's prefix names; undefined for a text that `apiKeyText` cannot have made. */
export const modeOfApiKey = (text: string): Mode | undefined => {
  const mode = KEY.exec(text)?.[1];
  return mode === 'live' || mode === 'test' ? mode : undefined;
};

const KEY = /^svc_sk_(live|test)_[A-Za-z0-9_-]{43}$/;
