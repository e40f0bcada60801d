import type { NumberRange } from '../../app/recovery/ask-series.js';
import type { ComparedSeries, Doubtful, RecoveryReport, Unproven } from '../../app/recovery/recover-log.js';
import { holdsPause, type UnknownNote } from '../../app/recovery/unknown-notes.js';
import type { CompanyId } from '../../domain/common/ids.js';
import { centsFromDecimal } from '../../domain/common/money.js';
import type { InvoiceStatus } from '../../domain/invoice/status.js';
import { counted } from '../../lib/counted.js';
import { isCertificateReason } from '../../ports/authorizer.js';
import { municipalityByCode } from '../../tables/municipalities.js';
import type { Check, LogRecovery } from '../session.js';
import { STARTING_POINT } from '../starting-point.js';
import { AS_OF_THE_BACKUP, NAME_WHAT_CHANGED } from './backup.js';
import { putCertificateCommand } from './certificate.js';

/** Turns the result of `doctor --reconcile` into checks of the doctor. */
export const logRecoveryChecks = (result: Exclude<LogRecovery, { kind: 'refused' }>): readonly Check[] => {
  if (result.kind === 'not_paused')
    return [{ name: 'reconcile', ok: true, detail: 'issuing is not paused: there is nothing to compare' }];
  const { series, skipped, unknown, doubtful, unproven, resumed } = result;
  return [
    ...series.map(comparedCheck),
    ...skipped.map(({ companyId, mode, why }) => ({
      name: `reconcile ${companyId}${mode === undefined ? '' : ` ${mode}`}`,
      ok: true,
      detail: `not compared: ${why}`,
    })),
    ...unproven.map(unprovenCheck),
    ...unknown.map((note) => unknownCheck(note, resumed)),
    ...doubtful.map((one) => doubtfulCheck(one, resumed)),
    { name: 'reconcile keys', ok: true, detail: AS_OF_THE_BACKUP },
    { name: 'reconcile limits', ok: true, detail: resumed ? ONLY_THESE_RESUMED : ONLY_THESE },
    {
      name: 'reconcile',
      ok: resumed,
      detail: resumed ? `${comparedText(result)}: issuing resumes within seconds` : 'issuing stays paused',
      cure: resumed ? undefined : 'fix the problems above, then nfse doctor --reconcile again',
    },
  ];
};

/** What the lines above left out was not compared, so this text does not claim it. */
const comparedText = ({ series, skipped }: Pick<RecoveryReport, 'series' | 'skipped'>): string => {
  if (skipped.length === 0) return 'compared with the authorizer';
  return series.length === 0
    ? 'nothing was compared with the authorizer'
    : 'compared with the authorizer, but for what the lines above leave out';
};

const ONLY_THESE = `only the numbers above were asked for. ${NAME_WHAT_CHANGED}`;

const ONLY_THESE_RESUMED = `only the numbers above were asked for. If a company file got a series, next number or city after the backup that is not among them, stop the service at once, then nfse restore --mark, start it, and nfse doctor --reconcile --from ${STARTING_POINT}`;

const comparedCheck = (compared: ComparedSeries): Check => {
  const { companyId, mode, municipality, series, walked, found, adopted } = compared;
  const city = municipalityByCode(municipality);
  const place = city === undefined ? municipality : `${municipality} (${city.name}/${city.uf})`;
  const numbers = rangesText(walked);
  const detail = [
    `series ${series}, city ${place}, numbers ${numbers}: ${counted(found, 'note')} that the log does not have`,
    ...(adopted === 0 ? [] : [`${adopted} recorded on ${adopted === 1 ? 'its open invoice' : 'their open invoices'}`]),
    ...numbersTexts(compared),
  ];
  return { name: `reconcile ${companyId} ${mode}`, ok: true, detail: detail.join(', ') };
};

/** Without the last text `doctor` would advise the same comparison again. */
const numbersTexts = ({ mode, movedTo, stop }: ComparedSeries): readonly string[] => {
  if (stop === 'stays')
    return [
      `the series stays stopped, because the note that stopped it was not seen or a look-up proved nothing: compare it at the national portal, then nfse company put FILE.json with a dps.${mode}.next_number after every note of the series`,
    ];
  const next = `the next number is ${movedTo}`;
  if (stop === 'lifted') return [`the series is not stopped any more: ${next}`];
  return movedTo === undefined ? [] : [next];
};

/** More would hide the rest of the line. */
const MOST_RANGES = 20;

const rangesText = (ranges: readonly NumberRange[]): string => {
  const texts = ranges.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
  const left = texts.length - MOST_RANGES;
  // The last ones are those after the end of the log.
  if (left > 0) return `${counted(left, 'range')} before, and ${texts.slice(left).join(', ')}`;
  return texts.join(' and ');
};

/** Where the log has the attempt, its invoice is looked up after the pause too; but another invoice may have had the number before. */
const doubtfulCheck = ({ companyId, mode, series, number, dpsId, why }: Doubtful, accounted: boolean): Check => {
  const ok = accounted || mode === 'test';
  return {
    name: `note in doubt ${companyId} ${mode}`,
    ok,
    detail: `series ${series} number ${number}, DPS id ${dpsId}: the look-up proves nothing (${why}), and the log has an attempt under that number`,
    cure: ok
      ? undefined
      : `nfse doctor --reconcile again. Where that says the same, look for a note of number ${number} in the national portal; when it is of the invoice that has the number (nfse invoice search ${dpsId}), or no client will repeat its request: nfse doctor --reconcile --accept-unknown`,
  };
};

const unprovenCheck = (unproven: Unproven): Check => {
  const { companyId } = unproven;
  if ('lacks' in unproven)
    return {
      name: `reconcile ${companyId}`,
      ok: false,
      detail: `its notes cannot be asked for: ${unproven.lacks === 'certificate' ? 'it has no certificate' : 'its city is in no table'}`,
      cure: `${unproven.lacks === 'certificate' ? putCertificateCommand(companyId) : 'nfse company put FILE.json'}, or ${leaveOut(companyId)}`,
    };
  const { mode, series, number, dpsId, why, certificateRefused } = unproven;
  const isOfCertificate = certificateRefused || isCertificateReason(why);
  return {
    name: `reconcile ${companyId} ${mode}`,
    ok: false,
    detail: certificateRefused
      ? `the authorizer refuses the certificate (${why})`
      : `the authorizer's answer about series ${series} number ${number}, DPS id ${dpsId}, proves nothing (${why})`,
    cure: isOfCertificate
      ? `${putCertificateCommand(companyId)}, or nfse certificate issue-demo ${companyId} where a new simulator answers, or ${leaveOut(companyId)}`
      : 'try again when it can be reached',
  };
};

const leaveOut = (companyId: CompanyId): string =>
  `to go on without the company, which then stays disabled: nfse company disable ${companyId}, nfse doctor --reconcile --without-company ${companyId}`;

/** A note of test mode is no fiscal document, so it is reported without being a fault. */
const unknownCheck = (note: UnknownNote, accounted: boolean): Check => {
  const {
    companyId,
    mode,
    series,
    number,
    accessKey,
    authorizedAt,
    amount,
    once,
    owner,
    metBy,
    metOther,
    unseen,
    acceptedAgain,
    sentAgain,
    accepted,
    importedAs,
    keptFor,
    canceledAt,
  } = note;
  const ok = accounted || !holdsPause(note, false);
  const verb = unseen === true ? 'has' : 'met';
  const details = [
    `series ${series} number ${number}, access key ${accessKey}, of ${authorizedAt}, amount ${amount}`,
    ...(canceledAt === undefined ? [] : [`canceled at ${canceledAt}`]),
    ...(accepted === undefined ? [] : [`accepted by ${accepted.by} at ${accepted.at}`]),
    ...(once === undefined ? [] : [`was ${once}`]),
    ...(importedAs === undefined ? [] : [`belongs to ${importedAs.id}, whose import says ${importedAs.amount}`]),
    ...(keptFor === undefined ? [] : [`kept for ${keptFor}, which is not on record, because an import ended early`]),
    ...(owner === undefined ? [] : [`belongs to ${owner.id}, which ${OWNED[owner.status].which}`]),
    ...(metBy === undefined
      ? []
      : [
          `may belong to ${metBy.id}, which ${verb} it under its number with equal content and ${MET[metBy.status === 'indeterminate' ? 'ended' : 'open']}`,
        ]),
    ...(metOther === undefined
      ? []
      : [`may belong to ${metOther}, which ${verb} it under its number with other content and is indeterminate`]),
    ...(acceptedAgain === undefined
      ? []
      : [`may belong to ${acceptedAgain.join(' or ')}, which has the same amount and customer and is not sent yet`]),
    ...(sentAgain === undefined
      ? []
      : [`may belong to ${sentAgain.join(' or ')}, which has the same amount and customer and may have been sent`]),
  ];
  return {
    name: `${importedAs === undefined ? 'note without invoice' : 'imported note'} ${companyId} ${mode}`,
    ok,
    detail: details.join(', '),
    cure: ok ? undefined : cureOf(note),
  };
};

const cureOf = (note: UnknownNote): string => {
  const { accessKey, once, owner, metBy, metOther, importedAs, keptFor } = note;
  if (importedAs !== undefined) return importCure(importedAs.id);
  if (keptFor !== undefined && (owner === undefined || OWNED[owner.status] === STILL_OPEN))
    return keptCure(note, keptFor);
  if (owner !== undefined)
    return `${OWNED[owner.status].cure}${keptFor === undefined ? '' : `. Do not run the import of ${keptFor} again`}`;
  // The id of an invoice follows from its reference or key, so a note that was another invoice's is no repeat of the one that met the note.
  if (metOther !== undefined && (once === undefined || once === metOther))
    return `ask the client whether it repeated its request on another day. If so: ${importWith(note, undefined)}, without a name, then leave ${metOther} indeterminate and tell its client that this note counts. If the note is of another sale: ${cureWithoutOwner(note)}`;
  if (metBy === undefined || (once !== undefined && once !== metBy.id)) return cureWithoutOwner(note);
  const resolve = `nfse invoice resolve ${metBy.id} --as issued --access-key ${accessKey} --evidence TEXT`;
  const end = `nfse doctor --reconcile --accept-unknown, after which that invoice ends as indeterminate and is not sent, then ${resolve}`;
  const cure = metBy.status === 'indeterminate' ? `${resolve}, then nfse doctor --reconcile` : end;
  return `ask the client whether it repeated its request. If so: ${cure}. If the note is of another sale with equal content: ${cureWithoutOwner(note)}`;
};

/** `open`: the pause came before the invoice could end. */
const MET = {
  ended: 'is indeterminate',
  open: 'has no outcome yet',
} as const;

const cureWithoutOwner = (note: UnknownNote): string => {
  const { acceptedAgain, sentAgain, metAgain } = note;
  const [id, ...others] = acceptedAgain ?? [];
  const example = importWith(note, id);
  if (id === undefined && sentAgain === undefined) return `take it over: ${example}, and ${NAMED_BY}; or, ${NO_REPEAT}`;
  const choice =
    others.length === 0
      ? ', and that invoice is not sent'
      : `, with the id of the invoice that is the same sale: ${id} or ${others.join(' or ')}. Each of the others is sent after the pause, which is right only where it is another sale`;
  const rest = `${sentAgain === undefined ? '' : `. ${sentCure(sentAgain)}`}. ${endOf(note)}`;
  const once =
    metAgain === undefined
      ? ''
      : `once ${metAgain.join(' and ')} ${metAgain.length === 1 ? 'has' : 'have'} an outcome, `;
  if (id === undefined)
    return `ask the client whether it repeated its request. If the note is of another sale: ${example}, and ${NAMED_BY}${rest}`;
  return `ask the client whether it repeated its request. If so: ${example}${choice}. If the note is of another sale: ${once}the same line with ${NAMED_BY}, or without an id${rest}`;
};

/** No other invoice gets a note that is kept: an open one would have two once it is sent, and one that met the note under its number is not sent. */
const keptCure = (note: UnknownNote, keptFor: string): string => {
  const { owner, metBy, acceptedAgain = [], sentAgain = [] } = note;
  const complete = `run that import again, or ${importWith(note, keptFor)}`;
  const sendable = [...(owner === undefined ? [] : [owner.id]), ...acceptedAgain, ...sentAgain];
  const [id] = [...sendable, metBy?.id];
  if (id === undefined) return `${complete}; or, ${NO_REPEAT}`;
  if (sendable.length === 0)
    return `${complete}, then ask the client whether the note is of ${id}. If so, leave that invoice indeterminate, and tell the client that the note counts`;
  return `ask the client whether the note is of ${sendable.join(' or ')}. If not: ${complete}. If so, no import can give it the note: ${CANCEL_THIS}${owner === undefined ? `. ${endOf(note)}` : ''}`;
};

const NAMED_BY = 'the reference, id or Idempotency-Key by which its client knows it';

const NO_REPEAT =
  'when no client will repeat it, nfse doctor --reconcile --accept-unknown, which accepts every note that it finds without an invoice';

/**
 * The whole line, because a key that is copied by hand may become that of another note. With `created_at` the rounds of the reconciliation find a
 * cancellation that is not seen here. An invoice that was accepted here takes the note as issued only.
 */
const importWith = (note: UnknownNote, id: string | undefined): string => {
  const { companyId, mode, accessKey, authorizedAt, amount, metBy, unseen, acceptedAgain = [] } = note;
  const canceledAt = id !== undefined && acceptedAgain.includes(id) ? undefined : note.canceledAt;
  const line = {
    cnpj: companyId,
    mode,
    origin: 'legacy',
    state: canceledAt === undefined ? 'issued' : 'canceled',
    id,
    amount_in_cents: centsFromDecimal(amount),
    access_key: accessKey,
    issued_at: authorizedAt,
    created_at: authorizedAt,
    canceled_at: canceledAt,
    // Beside an invoice that has no outcome, and has not met the note, the import takes no key alone.
    xml_file: unseen === true ? 'NOTE.xml' : undefined,
  };
  // The import refuses such a note until the operator says that it is of another sale.
  const flags = unseen === true && metBy !== undefined ? ` --other-sale ${accessKey}` : '';
  const file = unseen === true ? ', where NOTE.xml is the XML of the note from the national portal' : '';
  return `nfse invoice import FILE.ndjson${flags} with the line ${JSON.stringify(line)}${file}`;
};

const importCure = (id: string): string =>
  `compare the line of the import with the note; no command corrects an import. Where the line has the key of another sale, tell the client of ${id} not to cancel it here, which would cancel this note: a note that must go is canceled in the national portal. Where only the amount is wrong, tell the client. Then nfse doctor --reconcile --accept-unknown`;

/** No other note is recorded on such an invoice, because its own attempt may still become a note. */
const sentCure = (ids: readonly string[]): string =>
  `${ids.join(' or ')} may have been sent and takes no other note: if it is the same sale, wait until it is not sent any more`;

const endOf = ({ sendableUntil }: UnknownNote): string =>
  sendableUntil === undefined
    ? '--accept-unknown ends the pause too: none of these invoices is sent any more, and each that has no note by then ends as failed or indeterminate'
    : `--accept-unknown does not end the pause before that, or before ${sendableUntil}, after which none of these invoices is sent any more`;

const CANCEL_THIS = 'cancel this note in the national portal, then nfse doctor --reconcile --accept-unknown';

const STILL_OPEN = {
  which: 'has no outcome',
  cure: `nfse doctor --reconcile again; where it says the same, that invoice has its own note besides: ${CANCEL_THIS}`,
};

/** Where a note belongs to an invoice that cannot take it. An import would make a second invoice of one request. */
const OWNED: Readonly<Record<InvoiceStatus, { which: string; cure: string }>> = {
  queued: STILL_OPEN,
  processing: STILL_OPEN,
  issued: { which: 'has another note', cure: `one of the two notes is too many: ${CANCEL_THIS}` },
  canceled: { which: 'is canceled', cure: `its client counts on no note: ${CANCEL_THIS}` },
  failed: {
    which: 'has failed',
    cure: `its client was answered that no note exists, and may have requested the sale again: ${CANCEL_THIS}`,
  },
  indeterminate: {
    which: 'is indeterminate',
    cure: `nfse invoice resolve with --as issued, then nfse doctor --reconcile; where that finds no note, the log has lost the number: ${CANCEL_THIS}`,
  },
};
