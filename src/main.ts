#!/usr/bin/env node
import { refusalOfNode } from './runtime/config/supported-node.js';

/** Anything else, and what `main` refuses at once, is for `main`. */
const isVersionAsked = (words: readonly string[]): boolean =>
  words.length === 1 && words[0] === '--version' && process.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0';

// Node 20 lacks `navigator`, which later versions have. Without it pg loads all of fetch, only to learn that it does not run at Cloudflare.
if (!('navigator' in globalThis))
  Object.defineProperty(globalThis, 'navigator', {
    value: { userAgent: 'Node.js' },
    configurable: true,
    writable: true,
  });

// Everything else is loaded after this: on an older Node a package may fail to load, and that fault would hide the reason.
const refusal = refusalOfNode(process.versions.node);
if (refusal === undefined && isVersionAsked(process.argv.slice(2))) {
  // Scripts ask for the version often: no command is loaded for it.
  const [{ openOutput }, { programVersion }] = await Promise.all([
    import('./runtime/commands/output.js'),
    import('./runtime/config/program-version.js'),
  ]);
  openOutput().write(`nfse ${programVersion()}\n`);
} else if (refusal === undefined) {
  const { main } = await import('./runtime/commands/main.js');
  process.exitCode = await main(process.argv.slice(2), process.env);
  const { endOnceWritten } = await import('./runtime/commands/end.js');
  endOnceWritten();
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 2;
}
