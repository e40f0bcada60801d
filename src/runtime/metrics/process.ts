import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

let collected: Registry | undefined;

/**
 * CPU, memory, heap, event loop and garbage collection, under the names that every Node dashboard knows. Once per
 * process, whatever the number of services in it: their observers cannot be taken back.
 */
export const processMetrics = (): Registry => {
  if (collected === undefined) {
    collected = new Registry();
    collectDefaultMetrics({ register: collected });
    new Gauge({
      name: 'nfse_build_info',
      help: 'Always 1; what runs is in the labels.',
      labelNames: ['version', 'node'],
      registers: [collected],
    }).set({ version: productVersion(), node: process.version }, 1);
  }
  return collected;
};

/** From the package that holds this file, which stands elsewhere in the compiled program. */
const productVersion = (): string => {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  }
  return 'unknown';
};
