import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './root.js';
import { supplyChainFiles } from './supply-chain/files.js';

for (const [path, text] of Object.entries(supplyChainFiles())) {
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), text);
  process.stdout.write(`wrote ${path}\n`);
}
