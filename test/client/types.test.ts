import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ENDS_WITHIN_MS } from '../support/patient.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ROOT } from '../tools/root.js';

const PROGRAM = `
import { createClient, type Invoice, type IssueRequest, mayIssueAgain } from 'nfse-issuance-service/client';
import { type ErrorDetails, isRefusal } from 'nfse-issuance-service/client/errors';

const request: IssueRequest = { amount_in_cents: 150_000, description: 'Consultoria' };
const client = createClient({ baseUrl: 'https://nfse.example', key: 'svc_sk_test_x' });
export const invoice: Invoice = await client.issueAndWait(request, { withinMs: 1_000 });
export const answers = [mayIssueAgain(invoice), isRefusal(undefined, 'not_found')];
// Values that do not exist yet.
export const isNew = invoice.status === 'replaced' || invoice.error?.code === 'nfse.new';
export const codeOf = ({ code }: ErrorDetails): number => (code === 'nfse.newer' ? 1 : code.length);
`;

/** All that a program may ask of the compiler beyond `strict`; it has the sources of this package to pass, not only its own. */
const COMPILER_OPTIONS = {
  target: 'ES2023',
  lib: ['ES2022', 'DOM'],
  types: [],
  module: 'NodeNext',
  noEmit: true,
  strict: true,
  erasableSyntaxOnly: true,
  exactOptionalPropertyTypes: true,
  isolatedModules: true,
  noFallthroughCasesInSwitch: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  verbatimModuleSyntax: true,
};

/** What the compiler says about programs of a stranger, who has this package as npm installs it from a clone: as a link. */
const complaintsAbout = (programs: Readonly<Record<string, string>>): string => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/nfse-issuance-service'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }),
  );
  for (const [file, text] of Object.entries(programs)) writeFileSync(join(folder, file), text);
  const compiler = join(ROOT, 'node_modules/typescript-compiler/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], {
    encoding: 'utf8',
    timeout: ENDS_WITHIN_MS,
  });
  return stdout;
};

it('compiles in a program whose compiler is stricter than ours, and finds a field that no request has', () => {
  const wrong = PROGRAM.replace('amount_in_cents', 'amount');
  const [complaint, ...others] = complaintsAbout({ 'program.ts': PROGRAM, 'wrong.ts': wrong }).trim().split('\n');
  expect(complaint).toMatch(/wrong\.ts.* 'amount' does not exist in type/);
  expect(others).toEqual([]);
});
