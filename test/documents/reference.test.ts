import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { invoiceResponse } from '../../src/http/openapi/schemas.js';
import { allCommands } from '../../src/runtime/commands/main.js';
import { environmentReference, variableNames } from '../tools/documents/environment-reference.js';
import { readPage, referencePages } from '../tools/documents/pages.js';
import { withRegion } from '../tools/documents/regions.js';
import { ROOT } from '../tools/root.js';
import { readManifest } from '../tools/supply-chain/lock.js';

const PICTURES = ['docs/pictures/danfse.png', 'docs/pictures/console.png'];
const PNG = '89504e470d0a1a0a';

describe('the pages that are written from the code', () => {
  it.each(Object.entries(referencePages()))('%s is what npm run documents writes', (path, text) => {
    expect(readPage(path) === text, `${path} is not what npm run documents writes`).toBe(true);
  });

  it('explain every variable that the program reads, and no other', () => {
    expect(Object.keys(environmentReference).toSorted()).toEqual(variableNames.toSorted());
  });

  it('show every command with every option', () => {
    const page = readPage('docs/cli.md');
    const commands = allCommands({}, () => {
      throw new Error('help needs no configuration');
    });
    expect(commands.length).toBeGreaterThan(45);
    const [common = ''] = page.split('\n## Examples\n');
    for (const option of ['json', 'help', 'actor NAME']) expect(common).toContain(`\`--${option}\``);
    for (const { name, options } of commands) {
      const [, section = ''] = page.split(`\n### nfse ${name}\n`);
      const [help = ''] = section.split('\n### ');
      for (const option of Object.keys(options ?? {}))
        expect([name, help]).toEqual([name, expect.stringContaining(`--${option}`)]);
    }
  });

  it('of the guide name every field of the answer, in its order', () => {
    const fields = [...readPage('docs/guia/resposta.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, field]) => field);
    expect(fields).toEqual(Object.keys(invoiceResponse.entries));
  });

  it('would be found out when the code says something else', () => {
    const page = readPage('docs/cli.md');
    expect(withRegion(page, 'examples', '| another table |')).not.toBe(page);
    expect(() => withRegion('no marks', 'examples', '')).toThrow('no mark of the generated region examples');
  });
});

describe('the pages for operators', () => {
  const source = (...paths: readonly string[]): string =>
    paths.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');

  it('have a row for every line of nfse doctor', () => {
    const operator = 'src/runtime/operator';
    const files = readdirSync(join(ROOT, operator)).filter((file) => file.endsWith('checks.ts'));
    const checks = source(
      ...files.map((file) => join(operator, file)),
      'src/cli/commands/doctor.ts',
      'src/cli/ibs-cbs.ts',
    );
    const names = [...checks.matchAll(/(?:\bname: |\bname = |\[name, cure\] = \[|\bcheck\()['`]([^'`$]+)/g)].map(
      ([, name = '']) => name.trim(),
    );
    const [, table = ''] = readPage('docs/operations/support.md').split('| line |');
    const [rows = ''] = table.split('\n\n');
    const firsts = rows.split('\n').map((row) => row.split(' | ')[0] ?? '');
    const lacking = names.filter((name) => !firsts.some((first) => first.includes(`\`${name}`)));
    expect(new Set(names).size).toBeGreaterThan(25);
    expect(lacking.filter((name) => !['doctor', 'companies'].includes(name))).toEqual([]);
  });

  it('explain every source of gauges', () => {
    const names = [...source('src/runtime/metrics/gauges.ts').matchAll(/^ {4}name: '(\w+)',$/gm)].map(
      ([, name]) => name,
    );
    const [, section = ''] = readPage('docs/operations/monitoring.md').split('### NfseSourceFailed\n');
    expect(names.length).toBeGreaterThan(9);
    for (const name of names) expect(section.split('\n## ')[0]).toContain(`\`${name}\``);
  });
});

describe('the changelog', () => {
  const changelog = readPage('CHANGELOG.md');
  const { version } = readManifest();

  it('has a dated section of the version in package.json, which compose.yaml builds', () => {
    expect(changelog).toMatch(new RegExp(`^## ${version.replaceAll('.', '\\.')} - \\d{4}-\\d\\d-\\d\\d$`, 'm'));
    expect(readPage('compose.yaml')).toContain(`image: nfse-issuance-service:${version}\n`);
  });

  it('has the usual headings', () => {
    const [, newest = ''] = changelog.split(/^## \d.*$/m);
    const headings = [...newest.matchAll(/^### (\w+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Added', 'Changed', 'Fixed', 'Security']);
  });
});

describe('the README', () => {
  it('has 1,000 words at most', () => {
    expect(
      readPage('README.md')
        .split(/\s+/)
        .filter((word) => word !== '').length,
    ).toBeLessThanOrEqual(1000);
  });

  it.each(PICTURES)('shows %s, a PNG of less than 150 kB', (path) => {
    expect(readPage('README.md')).toContain(`](${path})`);
    expect(readFileSync(join(ROOT, path)).subarray(0, 8).toString('hex')).toBe(PNG);
    expect(statSync(join(ROOT, path)).size).toBeLessThan(150_000);
  });
});
