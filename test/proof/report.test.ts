import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../tools/root.js';
import { FAULT_NAMES } from './judge/finding.js';
import { ENGINE_NAMES } from './options.js';

const page = readFileSync(join(ROOT, 'docs/proof.md'), 'utf8');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

const regionOf = (text: string, name: string): string =>
  new RegExp(`<!-- begin generated: ${name} -->([\\s\\S]*?)<!-- end generated: ${name} -->`).exec(text)?.[1] ?? '';

describe('the page of the proof', () => {
  it.each(ENGINE_NAMES)('shows a run over %s with seed, commit, hashes and pictures', (engines) => {
    const region = regionOf(page, `proof ${engines}`);
    expect(region).toMatch(/^\s*Seed \d+, commit `[0-9a-f]{40}`,/);
    expect(region).toContain(`(proof/${engines}.sha256)`);
    expect(readFileSync(join(ROOT, `docs/proof/${engines}.sha256`), 'utf8')).toMatch(
      /^[0-9a-f]{64} {2}events\.ndjson$/m,
    );
    const pictures = [...region.matchAll(/\]\((proof\/[\w.-]+\.svg)\)/g)].map(([, path = '']) => path);
    expect(pictures).toHaveLength(3);
    for (const path of pictures) expect([path, existsSync(join(ROOT, 'docs', path))]).toEqual([path, true]);
  });

  it('explains every name that the judge can give', () => {
    const [promises = ''] = page.split('## The faults');
    expect(FAULT_NAMES.filter((name) => !promises.includes(`\`${name}\``))).toEqual([]);
  });

  it('has the figures that the README shows', () => {
    const [, invoices = 'none'] = /\*\*([\d,]+) invoices\*\*/.exec(regionOf(readme, 'proof')) ?? [];
    expect(regionOf(page, 'proof embedded')).toContain(`| invoices |  | ${invoices}: `);
  });
});
