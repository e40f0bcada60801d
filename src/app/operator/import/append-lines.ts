import { present } from '../../../domain/common/present.js';
import type { InvoiceEvent } from '../../../domain/invoice/events.js';
import { inGroups } from '../../../lib/in-groups.js';
import { loadInvoice, loadSealedInvoice } from '../../read/read-invoice.js';
import { attachNote } from './accepted-invoice.js';
import {
  type CheckDeps,
  checkHolder,
  checkInvoice,
  checkLoaded,
  type ImportCheck,
  isCompletion,
  keyInUse,
  onRecord,
} from './check-line.js';
import type { PlannedImport } from './import-line.js';
import { type ImportProblems, LINES_AT_ONCE, type Numbered, type OnLines } from './import-problems.js';
import { appendFirst, reserve } from './reservations.js';

export type AppendDeps = CheckDeps & { actor: `support:${string}` };

/**
 * Appends the lines that were checked, and returns how many were appended. The log may hold other invoices since, so each line is compared with the log
 * again; `problems` gets the lines that a request or another import has forestalled.
 */
export const appendAll = async (
  open: readonly (Numbered & { check: ImportCheck })[],
  problems: ImportProblems,
  deps: AppendDeps & { onLines: OnLines },
): Promise<number> => {
  const append = async ({ number, plan, check }: Numbered & { check: ImportCheck }): Promise<Appended['kind']> => {
    const result = await appendImport(plan, deps);
    if (result.kind === 'refused') problems.report(number, [`meanwhile, ${result.problem}`]);
    return result.kind === 'already_so' && isCompletion(check) ? 'appended' : result.kind;
  };
  const appended = await inGroups(LINES_AT_ONCE, open, append, (done) => deps.onLines('import', done, open.length));
  return appended.filter((kind) => kind === 'appended').length;
};

type Appended = ImportCheck | { kind: 'appended' };

/** One reading decides both: a note is attached only to the acceptance that it was compared with. */
const appendImport = async (plan: PlannedImport, deps: AppendDeps): Promise<Appended> => {
  const loaded = await loadInvoice(plan.stream, deps.store);
  const check = checkLoaded(loaded, plan, deps);
  if (check.kind === 'refused') return check;
  return await (loaded.state.kind === 'none' ? appendInvoice(plan, deps) : completeInvoice(check, plan, deps));
};

/**
 * Appends the reservations first, because only one of several writers can get each. All appends expect no stream. Takes the key before, because a
 * refused line must not reserve its note, and frees the key when another import has the note.
 */
const appendInvoice = async (plan: PlannedImport, deps: AppendDeps): Promise<Appended> => {
  const importedAt = deps.clock.now();
  const taken = await takeKey(plan, deps);
  if (taken.refused !== undefined) return taken.refused;
  const refused = await reserve(plan, importedAt, deps);
  if (refused !== undefined) {
    if (taken.token !== undefined) await freeKey(plan, taken.token, deps);
    return refused;
  }
  const imported: InvoiceEvent = { type: 'InvoiceImported', data: { ...plan.data, importedAt } };
  if (await appendFirst(plan.stream, imported, plan, deps)) return { kind: 'appended' };
  const check = await checkInvoice(plan, deps);
  return check.kind === 'open' ? await onRecord(plan, deps) : check;
};

/**
 * Reserves the access key before the note is attached, because another import may take it meanwhile. An issuer may send the invoice in between: then
 * the key is free for another invoice as soon as this one has another outcome.
 */
const completeInvoice = async (check: ImportCheck, plan: PlannedImport, deps: AppendDeps): Promise<Appended> => {
  const refused = await reserve(plan, deps.clock.now(), deps);
  if (refused !== undefined) return refused;
  if (check.kind !== 'open') return check;
  return (await attachNote(plan, deps)) ? { kind: 'appended' } : await onRecord(plan, deps);
};

const takeKey = async (plan: PlannedImport, deps: AppendDeps): Promise<{ refused?: ImportCheck; token?: string }> => {
  const key = keyInUse(plan, deps);
  if (key === undefined) return {};
  const { holder, token } = await deps.keys.take(key, deps.clock.now());
  return present({ refused: await checkHolder(holder, plan, deps), token });
};

/** Another line with this key is the same invoice. Its import may have brought the invoice, whose key it stays, or may be about to. */
const freeKey = async (plan: PlannedImport, token: string, deps: AppendDeps): Promise<void> => {
  const key = keyInUse(plan, deps);
  const { state } = await loadSealedInvoice(plan.stream, deps.store);
  if (key !== undefined && state.kind === 'none') await deps.keys.free(key, token);
};
