import { readImportedNote } from '../../../src/adapters/authorizer/documents.js';
import type { NoteFiles } from '../../../src/app/operator/import/import-line.js';
import { importCommand } from '../../../src/cli/commands/invoice-import.js';
import { accessKeyCheckDigit } from '../../../src/domain/common/access-key.js';
import { companyStream } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import { demoCompany } from '../fixture/demo.js';
import { appendTo, movableClock } from './event-store.js';
import { type Operator, openOperator } from './operator.js';

/** `nfse invoice import` over a log with this company, registered at the instant; the clock is half an hour later. */
export const openImporter = async (
  cnpj: string,
  at: Instant,
  readNote: NoteFiles['readNote'] = readImportedNote,
): Promise<Operator> => {
  const clock = movableClock(addSeconds(at, 1_800));
  const operator = await openOperator([importCommand(async () => readNote)], undefined, {}, clock);
  const { registration } = demoCompany(cnpj);
  const registered = { type: 'CompanyRegistered', data: { registration, at } } as const;
  await appendTo(operator.session.store, companyStream(cnpj), [registered], at);
  return operator;
};

/** A line of a file of the company's live notes. */
export const importLine = (cnpj: string, issuedAt: string, fields: object = {}) => ({
  cnpj,
  mode: 'live',
  origin: 'legacy',
  state: 'issued',
  amount_in_cents: 1_000,
  issued_at: issuedAt,
  ...fields,
});

/** The access key of note `n` of the company. */
export const noteKey = (cnpj: string, n: number): string => {
  const first = `330455722${cnpj}${String(n).padStart(13, '0')}2611123456789`;
  return first + accessKeyCheckDigit(first);
};
