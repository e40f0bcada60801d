import { isCnpj, providerOfKey } from '../../../domain/common/access-key.js';
import {
  type InvoiceId,
  invoiceStream,
  parseInvoiceStream,
  publicInvoiceId,
  type StreamName,
} from '../../../domain/common/ids.js';
import { present } from '../../../domain/common/present.js';
import { addSeconds, DAY_SECONDS, isBefore } from '../../../domain/common/time.js';
import type { InvoiceEvent } from '../../../domain/invoice/events.js';
import { allCameToNothing, type Invoice } from '../../../domain/invoice/state.js';
import { inGroups } from '../../../lib/in-groups.js';
import type { EventLog } from '../../../ports/event-log.js';
import type { ImportedKey, ImportedKeys } from '../../../ports/idempotency-keys.js';
import { compareNote } from '../../issuing/found-documents.js';
import { type LoadedInvoice, loadInvoice, loadSealedInvoice } from '../../read/read-invoice.js';
import { type CompanyCommandDeps, loadCompany } from '../company/company-commands.js';
import { adviceOnHolder, attachNote, noteOfAccepted } from './accepted-invoice.js';
import { type NoteFiles, type PlannedImport, parseImportLine, planLine } from './import-line.js';
import { createImportProblems, type ImportProblems, type Numbered, type Told, told } from './import-problems.js';
import { importWarnings } from './import-warnings.js';
import { byId, isOnRecord, metLines } from './notes-met.js';
import {
  holdersOfKeys,
  type KeyHoldersDeps,
  ownerOfDps,
  type Unsettled,
  type UnsettledDeps,
  unsettledInvoices,
} from './notes-on-record.js';
import { checkOnRecord, otherContent } from './on-record.js';
import { appendFirst, type Check, checkReservations, reserve } from './reservations.js';

type ImportDeps = Pick<CompanyCommandDeps, 'store' | 'clock' | 'actor'> &
  NoteFiles &
  KeyHoldersDeps &
  UnsettledDeps & {
    log: Pick<EventLog, 'read' | 'lastEvent'>;
    keys: ImportedKeys;
    keySeconds: number;
    testRetentionSeconds: number;
    /** Access keys of notes that the operator has compared, and says to be of other sales than the invoices that met them. */
    otherSales: readonly string[];
    /** All is checked, and nothing appended. */
    isCheck: boolean;
  };

type ImportResult =
  | {
      /** With the notes that were recorded on accepted invoices. Of a check: that would be. */
      imported: number;
      /** Lines that an earlier import or line brought. */
      already: number;
      /** Of lines that were taken, each with its number. */
      warnings: Told;
      /** Lines that a request or another import forestalled. All others were imported. */
      refused: Told;
    }
  /** Nothing was imported. */
  | { problems: Told };

const AT_ONCE = 16;

/**
 * Takes over invoices made elsewhere, one JSON object a line. Every line is checked, also against the log, before the first is appended. A
 * process that dies meanwhile leaves some lines imported; importing the same file again adds the rest.
 */
export const importInvoices = async (text: string, deps: ImportDeps): Promise<ImportResult> => {
  const misshapen = shapeProblem(text);
  if (misshapen !== undefined) return { problems: told(misshapen) };
  const problems = createImportProblems();
  const plans = await planLines(text, deps, problems);
  const fresh = withoutRepetitions(plans, problems);
  await checkCompanies(fresh, deps, problems);
  const holders = await holdersByKey(fresh, deps);
  checkAccessKeys(fresh, holders, problems);
  const checks = await inGroups(AT_ONCE, fresh, async (entry) => {
    const check = await checkImport(entry.plan, deps);
    if (check.kind === 'refused') reportRefused(entry.number, check, problems);
    if (check.kind !== 'already_so') problems.report(entry.number, entry.plan.objections);
    return { ...entry, check };
  });
  const open = checks.filter(({ check }) => check.kind !== 'already_so');
  await checkUnsettled(open, deps, problems);
  const met = await metLines(plans, deps);
  const toAppend = new Set(open.map(({ number }) => number));
  for (const { number, refusal } of met)
    if (refusal !== undefined && toAppend.has(number)) problems.report(number, [refusal]);
  if (problems.count() > 0) return { problems: problems.textsOfRefusedFile(plans.length) };
  if (plans.length === 0) return { problems: told('the file has no line') };
  const added = new Set(open.filter(({ check }) => !isCompletion(check)).map(({ plan }) => plan.stream));
  const isKnown = ({ stream }: PlannedImport): boolean => !added.has(stream);
  const warnings = importWarnings(plans, met, { ...deps, now: deps.clock.now(), isOnRecord: isKnown });
  const already = plans.length - open.length;
  if (deps.isCheck) return { imported: open.length, already, warnings, refused: told() };
  return { ...(await appendAll(open, already, deps)), warnings };
};

const appendAll = async (
  open: readonly (Numbered & { check: ImportCheck })[],
  alreadyThere: number,
  deps: ImportDeps,
): Promise<{ imported: number; already: number; refused: Told }> => {
  const problems = createImportProblems();
  const appended = await inGroups(AT_ONCE, open, async ({ number, plan, check }) => {
    const result = await appendImport(plan, deps);
    if (result.kind === 'refused') problems.report(number, [`meanwhile, ${result.problem}`]);
    return result.kind === 'already_so' && isCompletion(check) ? 'appended' : result.kind;
  });
  const imported = appended.filter((kind) => kind === 'appended').length;
  const already = alreadyThere + appended.filter((kind) => kind === 'already_so').length;
  return { imported, already, refused: problems.texts() };
};

/** What a file that is no JSON object a line is, where one sentence says more than a problem for each line. */
const shapeProblem = (text: string): string | undefined => {
  const start = text.trimStart();
  if (start.startsWith('['))
    return "the file is a JSON array, and an import reads one JSON object a line: jq -c '.[]' FILE > NEW-FILE";
  if (/^\{\s*\n/.test(start))
    return 'the file has a JSON object over several lines, and an import reads one a line: jq -c . FILE > NEW-FILE';
  if (!text.includes('\n') && text.includes('}\r{'))
    return "the lines of the file end with CR alone, and an import reads lines that end with LF: tr '\\r' '\\n' < FILE > NEW-FILE";
  return undefined;
};

const reportRefused = (number: number, { problem, isOtherContent }: Refusal, problems: ImportProblems): void => {
  if (isOtherContent === true) problems.reportOnRecord(number, problem);
  else problems.report(number, [problem]);
};

const planLines = async (text: string, deps: ImportDeps, problems: ImportProblems): Promise<readonly Numbered[]> => {
  // A CR alone ends no line for `sed` and editors either, so an operator finds the line by its number.
  const lines = text.split(/\r?\n/);
  const numbered = lines.flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]));
  const planned = await inGroups(AT_ONCE, numbered, async ({ line, number }) => {
    problems.company(number, line);
    const parsed = parseImportLine(line);
    const result = 'problems' in parsed ? parsed : await planLine(parsed.line, deps, deps.clock.now());
    if ('problems' in result) problems.report(number, result.problems);
    return 'plan' in result ? [{ number, plan: result.plan }] : [];
  });
  return planned.flat();
};

/** A line that repeats another line is no problem. A line that names the same id, reference or access key for other content is one. */
const withoutRepetitions = (plans: readonly Numbered[], problems: ImportProblems): readonly Numbered[] => {
  const owners = new Map<string, Numbered>();
  return plans.filter((entry) => {
    const { stream, data, reservation } = entry.plan;
    const names = [stream, reservation, data.accessKey && `${data.mode} ${data.accessKey}`].filter(isText);
    const holders = names.flatMap((name) => owners.get(name) ?? []);
    const other = holders.find((holder) => JSON.stringify(holder.plan.data) !== JSON.stringify(data));
    if (other !== undefined)
      problems.report(entry.number, [`its id, reference or access_key is that of line ${other.number}`]);
    for (const name of names) if (!owners.has(name)) owners.set(name, entry);
    return holders.length === 0;
  });
};

const checkCompanies = async (
  plans: readonly Numbered[],
  deps: ImportDeps,
  problems: ImportProblems,
): Promise<void> => {
  const named = [...new Set(plans.map(({ plan }) => plan.data.companyId))];
  const unknown = await inGroups(AT_ONCE, named, async (companyId) => {
    const { state } = await loadCompany(companyId, deps.store);
    return state.kind === 'none' ? [companyId] : [];
  });
  const missing = new Set(unknown.flat());
  for (const { number, plan } of plans) {
    const { companyId } = plan.data;
    if (missing.has(companyId)) problems.report(number, [notRegistered(companyId)]);
  }
};

const notRegistered = (companyId: string): string =>
  isCnpj(companyId)
    ? `cnpj ${companyId} is no registered company: nfse company put FILE.json`
    : `cnpj ${companyId} has wrong check digits`;

type HoldersByKey = ReadonlyMap<string, readonly StreamName[]>;

const holdersByKey = async (plans: readonly Numbered[], deps: KeyHoldersDeps): Promise<HoldersByKey> => {
  const keys = plans.flatMap(({ plan }) => plan.data.accessKey ?? []);
  const holders = new Map<string, readonly StreamName[]>();
  for (const { accessKey, stream } of await holdersOfKeys(keys, deps)) {
    holders.set(accessKey, [...(holders.get(accessKey) ?? []), stream]);
  }
  return holders;
};

/**
 * One note is one invoice: a key that another invoice of the mode holds is refused. An invoice of another company does not refuse the line of the
 * company whose CNPJ is in the key, because its import was the mistake, and refuses no repeated request of this company.
 */
const checkAccessKeys = (plans: readonly Numbered[], holders: HoldersByKey, problems: ImportProblems): void => {
  for (const { number, plan } of plans) {
    const { mode, companyId, accessKey = '' } = plan.data;
    const isOfThisCompany = providerOfKey(accessKey) === companyId;
    const refuses = (stream: StreamName): boolean => {
      const holder = parseInvoiceStream(stream);
      return stream !== plan.stream && holder?.mode === mode && (!isOfThisCompany || holder.companyId === companyId);
    };
    if (holders.get(accessKey)?.some(refuses) === true) problems.report(number, [KEY_ON_RECORD]);
  }
};

const KEY_ON_RECORD =
  'access_key is that of an invoice on record: leave the line out, or give it without access_key and xml_file to reserve its reference';

/** The authorizer's clock and an instant that a person typed may be this far before our own clock. */
const CLOCK_SLACK_SECONDS = 3_600;

/** A log that had lost its end may have given the number of an earlier note to the invoice: as long after it as the log is looked through for such numbers. */
const EARLIER_NOTE_SECONDS = 7 * DAY_SECONDS;

/**
 * Without its XML a live note does not name its DPS, so it may be that of an unsettled invoice that was sent before it and has its amount; or it may stand
 * under the number of an indeterminate one that was sent later, and so hold another DPS.
 */
const checkUnsettled = async (
  plans: readonly Numbered[],
  deps: ImportDeps,
  problems: ImportProblems,
): Promise<void> => {
  const doubtful = plans.filter(({ plan: { liveKey, dps } }) => liveKey !== undefined && dps === undefined);
  for (const companyId of new Set(doubtful.map(({ plan }) => plan.data.companyId))) {
    const own = doubtful.filter(({ plan }) => plan.data.companyId === companyId);
    const unsettled = await unsettledInvoices(companyId, new Set(own.map(({ plan }) => plan.data.amountInCents)), deps);
    for (const { number, plan } of own) {
      const { invoiceId, amountInCents, accessKey = '', issuedAt, canceledAt } = plan.data;
      const lastly = issuedAt ?? canceledAt;
      const isSince = ({ firstSentAt }: Unsettled, seconds: number): boolean =>
        lastly === undefined || !isBefore(lastly, addSeconds(firstSentAt, -seconds));
      // A note that the invoice has met is not its own: what is to be said of it says `metLines`.
      const others = unsettled.filter(
        (one) => one.invoiceId !== invoiceId && one.amountInCents === amountInCents && !one.met.includes(accessKey),
      );
      const owner = others.find((one) => isSince(one, CLOCK_SLACK_SECONDS));
      const later = others.find((one) => one.isIndeterminate && isSince(one, EARLIER_NOTE_SECONDS));
      const mayBeThatOf = ({ invoiceId: id }: Unsettled): string =>
        `access_key may be that of ${publicInvoiceId(id)}, whose outcome is unknown: give xml_file`;
      if (owner !== undefined) problems.report(number, [mayBeThatOf(owner)]);
      else if (later !== undefined && !deps.otherSales.includes(accessKey) && !(await isOnRecord(plan, deps)))
        problems.report(number, [
          `${mayBeThatOf(later)}, or --other-sale ${accessKey} where the note is of another sale`,
        ]);
    }
  }
};

const isText = (value: string | undefined): value is string => value !== undefined;

/** `isOtherContent`: the invoice of the line is on record otherwise. */
type Refusal = Extract<Check, { kind: 'refused' }> & { isOtherContent?: true };

/** `completes`: the invoice is on record, and a reservation of it is not. */
type ImportCheck = { kind: 'open'; completes?: true } | Refusal | { kind: 'already_so'; isAttached?: true };

const isCompletion = (check: ImportCheck): boolean => check.kind === 'open' && check.completes === true;

const checkImport = async (plan: PlannedImport, deps: ImportDeps): Promise<ImportCheck> => {
  const { data, dps } = plan;
  const owner = dps === undefined ? undefined : await ownerOfDps(dps, data, deps);
  if (owner !== undefined && owner.facts.invoiceId !== data.invoiceId) {
    const id = publicInvoiceId(owner.facts.invoiceId);
    const isOwn = dps !== undefined && compareNote(owner, dps) === 'ours';
    return { kind: 'refused', problem: `xml_file is the note of ${id}${isOwn ? cureOfOwner(owner, id) : ''}` };
  }
  const reserved = await checkReservations(plan, deps.store);
  const refused = reserved.find(({ kind }) => kind === 'refused');
  if (refused !== undefined) return refused;
  const invoice = await checkInvoice(plan, deps);
  if (invoice.kind === 'open') return (await checkKey(plan, deps)) ?? invoice;
  if (invoice.kind === 'refused') return invoice;
  // An access key was not reserved by earlier versions, so an import without that reservation is whole.
  const isWhole = invoice.isAttached
    ? reserved.every(({ kind }) => kind === 'already_so')
    : plan.reservation === undefined || reserved[0]?.kind === 'already_so';
  return isWhole ? invoice : { kind: 'open', completes: true };
};

/** An invoice none of whose attempts was sent gets the note itself by its next send, or by the line that names it. */
const cureOfOwner = ({ outcome, attempts }: Invoice, id: string): string => {
  if (outcome.status === 'indeterminate') return `: nfse invoice resolve ${id} --as issued --evidence portal`;
  const waits = outcome.status === 'open' && allCameToNothing(attempts);
  return waits ? `, which waits to be sent: give it with ${byId(id)}` : '';
};

type Appended = ImportCheck | { kind: 'appended' };

/** One reading decides both: a note is attached only to the acceptance that it was compared with. */
const appendImport = async (plan: PlannedImport, deps: ImportDeps): Promise<Appended> => {
  const loaded = await loadInvoice(plan.stream, deps.store);
  const check = checkLoaded(loaded, plan, deps);
  if (check.kind === 'refused') return check;
  return await (loaded.state.kind === 'none' ? appendInvoice(plan, deps) : completeInvoice(check, plan, deps));
};

/**
 * Appends the reservations first, because only one of several writers can get each. All appends expect no stream. Takes the key before, because a
 * refused line must not reserve its note, and frees the key when another import has the note.
 */
const appendInvoice = async (plan: PlannedImport, deps: ImportDeps): Promise<Appended> => {
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
const completeInvoice = async (check: ImportCheck, plan: PlannedImport, deps: ImportDeps): Promise<Appended> => {
  const refused = await reserve(plan, deps.clock.now(), deps);
  if (refused !== undefined) return refused;
  if (check.kind !== 'open') return check;
  return (await attachNote(plan, deps)) ? { kind: 'appended' } : await onRecord(plan, deps);
};

/** The key of the line while it protects its request from a second note (docs/contract.md IDEM-1), also where that request has a reference. */
const keyInUse = (
  { data: { mode, companyId, invoiceId, keyHash, createdAt, issuedAt } }: PlannedImport,
  { clock, keySeconds }: ImportDeps,
): ImportedKey | undefined => {
  const acceptedAt = createdAt ?? issuedAt ?? clock.now();
  const isOver = !isBefore(clock.now(), addSeconds(acceptedAt, keySeconds));
  return keyHash === undefined || isOver ? undefined : { mode, companyId, keyHash, invoiceId, acceptedAt };
};

const checkKey = async (plan: PlannedImport, deps: ImportDeps): Promise<ImportCheck | undefined> => {
  const key = keyInUse(plan, deps);
  return key && (await checkHolder(await deps.keys.holderOf(key, deps.clock.now()), plan, deps));
};

const takeKey = async (plan: PlannedImport, deps: ImportDeps): Promise<{ refused?: ImportCheck; token?: string }> => {
  const key = keyInUse(plan, deps);
  if (key === undefined) return {};
  const { holder, token } = await deps.keys.take(key, deps.clock.now());
  return present({ refused: await checkHolder(holder, plan, deps), token });
};

/** Another line with this key is the same invoice. Its import may have brought the invoice, whose key it stays, or may be about to. */
const freeKey = async (plan: PlannedImport, token: string, deps: ImportDeps): Promise<void> => {
  const key = keyInUse(plan, deps);
  const { state } = await loadSealedInvoice(plan.stream, deps.store);
  if (key !== undefined && state.kind === 'none') await deps.keys.free(key, token);
};

const checkHolder = async (
  holder: InvoiceId | 'in_use' | undefined,
  { data: { mode, companyId, invoiceId } }: PlannedImport,
  { store }: ImportDeps,
): Promise<ImportCheck | undefined> => {
  if (holder === undefined || holder === invoiceId) return undefined;
  if (holder === 'in_use') return { kind: 'refused', problem: 'a request works on idempotency_key now' };
  // The row of an invoice that the log has lost is forgotten when issuing resumes.
  const held = await loadInvoice(invoiceStream(mode, companyId, holder), store);
  if (held.state.kind === 'none') return undefined;
  const problem = `idempotency_key is held by ${publicInvoiceId(holder)}${adviceOnHolder(held)}`;
  return { kind: 'refused', problem };
};

const checkInvoice = async (plan: PlannedImport, deps: ImportDeps): Promise<ImportCheck> =>
  checkLoaded(await loadInvoice(plan.stream, deps.store), plan, deps);

const checkLoaded = (loaded: LoadedInvoice, plan: PlannedImport, deps: ImportDeps): ImportCheck => {
  const { data } = plan;
  if (loaded.state.kind === 'none') return { kind: 'open' };
  const note = noteOfAccepted(loaded, plan);
  if (note === 'fits') return { kind: 'open' };
  if (note === 'attached') return { kind: 'already_so', isAttached: true };
  if (note === 'recorded') return { kind: 'already_so' };
  if (note !== undefined) return { kind: 'refused', problem: note.problem };
  const found = checkOnRecord(loaded, data, { ...deps, now: deps.clock.now() });
  if (found === 'same') return { kind: 'already_so' };
  const { refused: problem, isOtherContent } = found;
  return present({ kind: 'refused' as const, problem, isOtherContent });
};

const onRecord = async (plan: PlannedImport, { store }: ImportDeps): Promise<Refusal> => ({
  kind: 'refused',
  problem: otherContent(await loadInvoice(plan.stream, store), plan.data),
  isOtherContent: true,
});
