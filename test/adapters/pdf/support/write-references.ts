import { mkdirSync, writeFileSync } from 'node:fs';
import { otherCases, sampleCases } from './cases.js';
import { packed, packedInColour, pageOf, referenceFile } from './images.js';

// Run this after an intended change of the page, and check every image before you commit it:
// node --import tsx test/adapters/pdf/support/write-references.ts

const documentation = new URL('../../../../docs/danfse/', import.meta.url);

const SHOWN = ['nfse-08-restrita-ibscbs', 'dps-05-exportacao', 'every-group', 'canceled'];

for (const folder of [new URL('.', referenceFile('any')), documentation]) mkdirSync(folder, { recursive: true });
for (const each of [...sampleCases, ...otherCases]) {
  const page = await pageOf(each);
  writeFileSync(referenceFile(each.name), packed(page));
  if (SHOWN.includes(each.name)) writeFileSync(new URL(`${each.name}.png`, documentation), packedInColour(page));
}
