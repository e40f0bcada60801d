#!/usr/bin/env node
import { refusalOfNode } from './runtime/config/supported-node.js';

// Everything else is loaded after this: on an older Node a package may fail to load, and that fault would hide the reason.
const refusal = refusalOfNode(process.versions.node);
if (refusal === undefined) {
  const { main } = await import('./runtime/commands/main.js');
  process.exitCode = await main(process.argv.slice(2), process.env);
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 2;
}
