/**
 * Writes what the documents take from the code: npm run documents. With --samples also the sample output, by running the demo and
 * the sessions (needs bash and curl). Tests fail while the pages differ.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { referencePages } from './documents/pages.js';
import { samplePages } from './documents/samples.js';
import { ROOT } from './root.js';

const withSamples = async (): Promise<Readonly<Record<string, string>>> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-samples-'));
  try {
    return await samplePages(['--import', import.meta.resolve('tsx'), join(ROOT, 'src/main.ts')], folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const pages = { ...referencePages(), ...(process.argv.includes('--samples') ? await withSamples() : {}) };
for (const [path, text] of Object.entries(pages)) {
  await writeFile(join(ROOT, path), text);
  process.stdout.write(`wrote ${path}\n`);
}
