import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { brokenReferences, type Repository, repositoryAt } from './references.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the references of code and documents', () => {
  it('lead to something that is in the repository', () => {
    const { repository, files } = repositoryAt(root);
    expect(files.length).toBeGreaterThan(500);
    expect(repository.texts.get('docs/contract.md')).toContain('| SVC-1 |');
    expect(brokenReferences(files, repository)).toEqual([]);
  });
});

const texts = new Map([
  ['README.md', '# Service\n\n## Environment\n'],
  [
    'docs/contract.md',
    '| id | requirement |\n|---|---|\n| POST-amount_in_cents | Cents. |\n| CODE-nfse.not_issued | 409. |\n',
  ],
  ['src/main.ts', 'export const main = () => {};\n'],
  ['docs/pages/one.md', '# One\n\n## Reading: row or `fold`\n\n## Twice\n\n## Twice\n\n<a id="named"></a>\n'],
]);
const repository: Repository = {
  paths: new Set([
    ...texts.keys(),
    'docs',
    'docs/pages',
    'docs/adr/0007-order.md',
    'docs/flow.svg',
    'src',
    'src/main.ts',
  ]),
  texts,
};

const found = (path: string, text: string): readonly string[] => brokenReferences([{ path, text }], repository);

describe('the checker of references', () => {
  it.each([
    ['a reading', '// As reading 43 says.'],
    ['readings', '/** Codes (readings 4 and 46). */'],
    ['a section of the design', '// Design section 6, 4.'],
    ['its file', '// See design.md 6.'],
    ['the design as a document', '// The design says so.'],
    ['its section in other words', "// the design's section 6"],
    ['the facts beside the repository', '// domain.md section 2'],
    ['the operator interface beside the repository', '// interface.md "invoice resolve"'],
    ['a deviation by number', '// openapi deviation 4'],
    ['an issue', '// Issue 12 asks for it.'],
    ['an issue by its mark', '// see issue #12'],
    ['the specification by its nickname', '/** Answers as the list (spec "List envelope"). */'],
    ['a folder beside the repository', "const beside = new URL('../../shared/', here);"],
  ])('finds %s', (_what, text) => {
    expect(found('src/main.ts', `export const x = 1;\n${text}\n`)).toEqual([
      expect.stringMatching(/^src\/main\.ts:2: nothing in the repository is called "/),
    ]);
    expect(found('docs/pages/one.md', text)).toHaveLength(1);
  });

  it('finds a reference that goes over the end of a line, and each of several', () => {
    const text = '/**\n * The order of design\n * section 6 and reading\n * 18.\n */';
    expect(found('src/main.ts', text).map((fault) => fault.slice(0, 14))).toEqual(['src/main.ts:2:', 'src/main.ts:3:']);
  });

  it.each([
    ['a page', 'src/main.ts', '// docs/pages/two.md', 'there is no docs/pages/two.md'],
    ['a section', 'src/main.ts', '// docs/pages/one.md#folds', 'docs/pages/one.md has no section #folds'],
    [
      'a section by its heading',
      'src/main.ts',
      '// docs/pages/one.md, "Folds"',
      'docs/pages/one.md has no section #folds',
    ],
    ['a third of two', 'src/main.ts', '/* docs/pages/one.md#twice-2 */', 'docs/pages/one.md has no section #twice-2'],
    ['a section of README', 'src/main.ts', '// README.md#cli', 'README.md has no section #cli'],
    ['a link', 'docs/pages/one.md', '[x](two.md)', 'there is no docs/pages/two.md'],
    ['a link with a section', 'docs/pages/one.md', '[x](../../README.md#cli)', 'README.md has no section #cli'],
    ['a link in its page', 'docs/pages/one.md', '[x](#cli)', 'docs/pages/one.md has no section #cli'],
    ['a picture', 'README.md', '![x](docs/flow.png)', 'there is no docs/flow.png'],
    [
      'a link that leads out',
      'README.md',
      '[x](../other/README.md)',
      '../other/README.md is outside of the repository',
    ],
    ['a decision', 'src/main.ts', '/** Kept (ADR 8). */', 'there is no ADR 8'],
    ['one of several decisions', 'README.md', 'ADR 7, ADR 7 and 9', 'there is no ADR 9'],
    ['a requirement', 'src/main.ts', '// POST-amount', 'docs/contract.md has no POST-amount'],
    ['a code', 'README.md', '`CODE-nfse.not_there`', 'docs/contract.md has no CODE-nfse.not_there'],
    ['codes of a stem', 'README.md', 'CODE-company.*', 'docs/contract.md has no CODE-company'],
    [
      'a requirement in a title',
      'test/a.test.ts',
      "it('POST-cents: whole', () => {});",
      'docs/contract.md has no POST-cents',
    ],
    ['a file', 'docs/pages/one.md', '`src/app/main.ts`', 'there is no src/app/main.ts'],
    ['a file by its name', 'docs/adr/0007-order.md', 'Hidden (`print.ts`).', 'no source is called print.ts'],
    ['a name in a file', 'docs/pages/one.md', 'a line in `VALUES` of `src/main.ts`', 'src/main.ts has no VALUES'],
    ['a name in a file', 'src/main.ts', '/* `VALUES` in\n * `src/main.ts` */', 'src/main.ts has no VALUES'],
  ])('finds %s that is not there', (_what, path, text, fault) => {
    expect(found(path, text)).toEqual([`${path}:1: ${fault}`]);
  });

  it.each([
    [
      'imports',
      'src/main.ts',
      "import { x } from '../domain/common/ids.js';\nexport type { Y } from '../common/y.js';",
    ],
    ['paths of the domain', 'docs/pages/one.md', 'in src/domain/common and `src/main.ts`, `src/*/x.ts`'],
    [
      'sections',
      'src/main.ts',
      '// docs/pages/one.md#reading-row-or-fold, docs/pages/one.md#twice-1, docs/pages/one.md#named.',
    ],
    ['links', 'docs/pages/one.md', '[a](#twice) [b](../flow.svg) [c](../pages/) [d](https://example.org/x.md#y)'],
    [
      'decisions and requirements',
      'src/main.ts',
      '/** ADR 7, POST-amount_in_cents. CODE-nfse.*, UTF-8, X-Request-Id */',
    ],
    ['texts of code', 'src/main.ts', "export const a = 'POST-nothing docs/none.md ADR 99 http://x/POST-nothing';"],
    ['files of a decision by their names', 'docs/adr/0007-order.md', '`main.ts`, `nkeys.js`, `Array.from`'],
    [
      'names in their files',
      'docs/pages/one.md',
      '`main` of\n`src/main.ts`, `main` (ADR 7) in `src/main.ts`, `x` in `src`',
    ],
    ['words', 'docs/pages/one.md', 'Reading a row, its design, a deviation, the issue at hand, a.spec.ts'],
  ])('lets %s pass', (_what, path, text) => {
    expect(found(path, text)).toEqual([]);
  });
});
