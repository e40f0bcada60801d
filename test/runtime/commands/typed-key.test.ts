import { expect, it } from 'vitest';
import { apiKeyText } from '../../../src/domain/company/company.js';
import { runProgram } from '../../support/harness/processes.js';

it('an API key that is typed in the place of another word is not repeated on stderr', async () => {
  const secret = 'A0_-'.repeat(11).slice(1);
  const program = runProgram(['src/main.ts', 'key', 'list', apiKeyText('live', secret)], {});
  expect(await program.ended).toMatchObject({ code: 2 });
  expect(program.complaint()).toBe('svc_sk_live_… is no CNPJ: a CNPJ has 14 characters\n');
});
