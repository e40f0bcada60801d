import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { appendAudit } from '../../app/audit/audit-trail.js';
import { type ClosableExaminer, type Examiner, ownExaminer } from '../../app/audit/examiner.js';
import type { Finding, Findings } from '../../app/audit/finding.js';
import type { CheckReport } from '../../app/audit/log-checker.js';
import { type Manifest, readManifest, readPublicKey } from '../../app/audit/manifest.js';
import {
  anchorsOfLog,
  compareAnchors,
  isAnchorFileName,
  type PublishedFile,
  publishedBefore,
} from '../../app/audit/published-anchors.js';
import { type DocumentCount, verifyDocuments } from '../../app/audit/verify-documents.js';
import { verifyExport } from '../../app/audit/verify-export.js';
import { verifyLog } from '../../app/audit/verify-log.js';
import { findStream } from '../../app/operator/support/search.js';
import { replayInvoice } from '../../app/read/read-invoice.js';
import { isBefore } from '../../domain/common/time.js';
import { counted } from '../../lib/counted.js';
import { printableLines } from '../../lib/printable.js';
import { badUsage, type Command, done, type Invocation, type Outcome, reported, textFlag } from '../command.js';
import { manifestOf, readExport } from '../export-file.js';
import { findingLine, unlessBroken } from '../findings.js';
import { instantFlag, unreadable } from '../flags.js';
import { type ShowProgress, withProgress } from '../progress.js';
import { refusedUnknown } from '../rows-behind.js';
import { auditDeps, type DriftReport, type Session } from '../session.js';
import { jsonText } from '../terminal.js';

/** Shows the customer in clear, as the API does, so each use is recorded as a look at personal data. */
const replay: Command = {
  name: 'audit replay',
  positionals: ['ID'],
  summary: 'the invoice body as the API would have shown it at an instant; this is recorded with the actor',
  options: { at: { value: 'TIME', help: 'the instant, e.g. 2026-11-21T12:00:00Z', required: true } },
  changes: true,
  run: async ({ positionals: [id = ''], flags, actor, session, terminal }) => {
    const at = instantFlag(flags, 'at');
    if (at === undefined || at === 'bad') return badUsage('--at takes an instant: 2026-11-21T12:00:00Z');
    const opened = await session();
    if (isBefore(opened.clock.now(), at)) return badUsage('--at lies in the future: until then the invoice may change');
    const stream = await findStream(id, opened);
    const replayed = stream === undefined ? undefined : await replayInvoice(stream, at, opened);
    if (stream === undefined || replayed === undefined)
      return await refusedUnknown(`no invoice ${id}`, opened, terminal);
    if (replayed.invoice === null) {
      const text = `at ${at} the API would have answered 404: ${id} was not accepted yet, or it was already deleted`;
      return unlessBroken(done(text, replayed), await opened.log.read(stream), terminal);
    }
    await appendAudit('PersonalDataRevealed', { command: 'audit replay', subject: stream }, auditDeps(opened, actor));
    const invoice = opened.bodyOf(replayed.invoice, at);
    const shown = done(jsonText(invoice, 2), { ...replayed, invoice });
    return unlessBroken(shown, await opened.log.read(stream), terminal);
  },
};

/** Opens the examiner of one command. */
export type OpenExaminer = () => Promise<ClosableExaminer>;

const verify = (openExaminer: OpenExaminer): Command => ({
  name: 'audit verify',
  summary: 'hash chains, shapes, invariants, anchors, and drift of the read models; exit 1 on any finding',
  options: {
    file: { value: 'FILE', help: 'an export instead of the log: FILE, with FILE.manifest.json beside it' },
    'public-key': {
      value: 'KEY',
      help: 'the key that must have signed it: the line of doctor, or a file with it or with PEM',
    },
    anchors: {
      value: 'FOLDER',
      help: 'a folder of published anchors to compare the log, or the export of a whole log, with',
    },
    documents: {
      help: 'open every signed document of the log too: its signature, digest and SHA-256',
    },
    'skip-drift': { help: 'leave the read models out' },
  },
  changes: false,
  run: async (invocation) => {
    const { flags } = invocation;
    const file = textFlag(flags, 'file');
    const examiner = await openExaminer();
    try {
      if (file === undefined) return await verifyTheLog(invocation, examiner);
      if (flags.documents === true) return badUsage('--documents needs the log: fields of an export are sealed');
      return await verifyFile(file, invocation, examiner);
    } finally {
      await examiner.close();
    }
  },
});

const AS_IT_IS = { rowsAsTheyAre: true } as const;

const verifyTheLog = async ({ flags, session, terminal }: Invocation, examiner: Examiner): Promise<Outcome> => {
  const folder = textFlag(flags, 'anchors');
  const published = folder === undefined ? [] : await anchorFiles(folder);
  if (typeof published === 'string') return badUsage(published);
  // An empty database that this command made would have no finding, and hide that the variables of the service are missing.
  const opened = await session({ ...AS_IT_IS, onlyExisting: true });
  return await withProgress(terminal, async (progress) => {
    const report = await verifyLog(opened.log, {
      examiner,
      keySeconds: opened.keySeconds,
      onProgress: ({ events, share }) => progress('verify', share, `${events} events`),
    });
    const { findings, readable } = report;
    if (!readable) return outcomeOf(report, [NOT_COMPARED]);
    const tellFound = (error: unknown): never => {
      // No report follows, because the run ends with this error.
      for (const finding of findings.kept) terminal.err(findingLine(finding));
      throw error;
    };
    for (const finding of await compareAnchors(published, anchorsOfLog(opened.store))) findings.add(finding);
    if (folder !== undefined && published.length === 0) findings.add(noAnchorIn(folder));
    const documents =
      flags.documents === true ? await documentCount(opened, findings, progress).catch(tellFound) : undefined;
    const drift =
      flags['skip-drift'] === true ? undefined : await driftFindings(opened, findings, progress).catch(tellFound);
    return outcomeOf({ ...report, documents }, [
      ...(folder === undefined ? [] : [comparedText(published.length, 0)]),
      ...(documents === undefined ? [] : [documentsText(documents)]),
      ...(drift === undefined ? [] : [`${drift.rows} rows of the read models compared`]),
    ]);
  });
};

const noAnchorIn = (folder: string): Finding => ({
  kind: 'anchor_missing',
  detail: `${folder} holds no published anchor: nothing was compared`,
});

/** The instant of an export is its maker's own claim, which could otherwise leave out each anchor that contradicts the export. */
const onlyLaterIn = (folder: string, { exported_at }: Pick<Manifest, 'exported_at'>): Finding => ({
  kind: 'anchor_missing',
  detail: `every published anchor in ${folder} is later than the export, which says that it was made at ${exported_at}: nothing was compared`,
});

const NOT_COMPARED =
  'published anchors, documents and read models are not compared with a log that cannot be read as a whole';

const documentCount = async (
  { log, sealingKeys: keys, documentChecks }: Session,
  findings: Findings,
  progress: ShowProgress,
): Promise<DocumentCount> =>
  verifyDocuments({ log, keys, ...(await documentChecks()) }, findings, ({ events, share }) =>
    progress('documents', share, `${events} events`),
  );

const documentsText = ({ checked, sealed }: DocumentCount): string =>
  `${counted(checked, 'signed document')} checked${sealed === 0 ? '' : `, ${sealed} skipped: their key was destroyed`}`;

const driftFindings = async ({ drift }: Session, findings: Findings, progress: ShowProgress): Promise<DriftReport> => {
  const report = await drift(({ projection, events, isWaiting }) =>
    progress(projection, 0, isWaiting ? 'waits for another audit' : `${events} events folded`),
  );
  for (const { projection, row, what } of report.drifts) {
    findings.add({ kind: 'read_model_drift', ...streamOf(row), detail: `${projection} ${row}: ${what}` });
  }
  for (const why of report.notCompared) findings.add({ kind: 'read_model_drift', detail: `not compared: ${why}` });
  return report;
};

/** Rows of invoices have their stream as key. */
const streamOf = (row: string): { stream?: string } => (/^nfse(?:Live|Test)-/.test(row) ? { stream: row } : {});

const verifyFile = async (
  file: string,
  { flags, session, terminal }: Invocation,
  examiner: Examiner,
): Promise<Outcome> => {
  const given = textFlag(flags, 'public-key');
  const key = given === undefined ? undefined : await publicKeyOf(given);
  if (given !== undefined && key === undefined) return badUsage('--public-key is no Ed25519 public key');
  const source = await readExport(file).catch((error: unknown) => unreadable(file, error));
  if (typeof source === 'string') return badUsage(source);
  // Without a given key only keys of this installation are trusted, and these are read from its database.
  const trusted = key === undefined ? await (await session(AS_IT_IS)).exportSigner.publicKeys() : [key];
  const text = await readFile(manifestOf(file), 'utf8').catch(() => undefined);
  const manifest = text === undefined ? undefined : readManifest(text);
  const anchors = await anchorsFor(manifest, textFlag(flags, 'anchors'));
  if (typeof anchors === 'string') return badUsage(anchors);
  const report = await withProgress(terminal, (progress) =>
    verifyExport(
      { ...source, manifest: text, trusted },
      {
        examiner,
        published: anchors.published,
        onEvents: (events) => progress('verify', source.share(), `${events} events`),
      },
    ),
  );
  for (const finding of anchors.findings) report.findings.add(finding);
  if (text === undefined) return outcomeOf(report, anchors.notes);
  const extent = manifest === undefined ? UNKNOWN_EXTENT : extentText(manifest);
  return outcomeOf({ ...report, manifest }, [extent, ...anchors.notes]);
};

type AnchorsForExport = { published: readonly PublishedFile[]; findings: readonly Finding[]; notes: readonly string[] };

/** The published anchors that an export must hold. A line for a person when the folder cannot be read or the export is a part. */
const anchorsFor = async (
  manifest: Manifest | undefined,
  folder: string | undefined,
): Promise<AnchorsForExport | string> => {
  if (folder === undefined) return { published: [], findings: [], notes: [] };
  if (manifest !== undefined && isPart(manifest)) return '--anchors needs an export of the whole log, this is a part';
  const files = await anchorFiles(folder);
  if (typeof files === 'string') return files;
  if (files.length === 0) return { published: [], findings: [noAnchorIn(folder)], notes: [] };
  if (manifest === undefined) return { published: files, findings: [], notes: [comparedText(files.length, 0)] };
  const published = publishedBefore(files, manifest.exported_at);
  const findings = published.length === 0 ? [onlyLaterIn(folder, manifest)] : [];
  return { published, findings, notes: [comparedText(published.length, files.length - published.length)] };
};

const comparedText = (compared: number, later: number): string =>
  `${compared} published anchors compared${later === 0 ? '' : `, ${later} later than the export left out`}`;

const isPart = ({ filter }: Pick<Manifest, 'filter'>): boolean => Object.keys(filter).length > 0;

const UNKNOWN_END = ', by an earlier version: events that the log had lost do not show';

const UNKNOWN_EXTENT = 'without a manifest the extent of the export is unknown';

/** Says which part of the log an export holds, so that an auditor does not take a part for the whole. */
const extentText = ({ exported_at, filter, dense_positions }: Manifest): string => {
  const { company, from, to } = filter;
  const parts = [
    ...(company === undefined ? [] : [`of company ${company}`]),
    ...(from === undefined ? [] : [`recorded at or after ${from}`]),
    ...(to === undefined ? [] : [`recorded before ${to}`]),
  ];
  if (parts.length > 0) return `exported at ${exported_at}: ONLY THE PART ${parts.join(', ')}`;
  const doubt = dense_positions === undefined ? UNKNOWN_END : '';
  return `exported at ${exported_at}: the whole log${doubt}`;
};

const publicKeyOf = async (given: string): Promise<string | undefined> =>
  readPublicKey(given) ?? readPublicKey(await readFile(given, 'utf8').catch(() => ''));

/** A line for a person when the folder cannot be read. */
const anchorFiles = async (folder: string): Promise<readonly PublishedFile[] | string> => {
  const names = await readdir(folder).catch((error: unknown) => unreadable(folder, error, 'folder'));
  if (typeof names === 'string') return names;
  const files = names.filter(isAnchorFileName).sort();
  return await Promise.all(files.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
};

/** `manifest` is that of an export. */
type Report = CheckReport & {
  documents?: DocumentCount | undefined;
  manifest?: Pick<Manifest, 'exported_at' | 'filter'> | undefined;
};

const outcomeOf = (report: Report, notes: readonly string[]): Outcome => {
  const { streams, events, findings, anchors, givenUp, documents, manifest } = report;
  const ok = findings.total === 0;
  const hidden = findings.total - findings.kept.length;
  // An anchor covers events of all streams since the anchor before, which a part need not hold.
  const anchored =
    manifest !== undefined && isPart(manifest) ? 'anchors not checked in a part' : counted(anchors.anchors, 'anchor');
  const summary = ok ? 'nothing is wrong' : counted(findings.total, 'finding');
  const text = printableLines([
    `${counted(events, 'event')} in ${counted(streams, 'stream')}, ${anchored}: ${summary}`,
    ...notes,
    ...givenUp.map((one) => `${counted(one.events, 'event')} sealed under ${one.generation}, which was given up`),
    ...findings.kept.map(findingLine),
    ...(hidden === 0 ? [] : [`and ${hidden} more`]),
  ]);
  return reported(ok, text, {
    ok,
    streams,
    events,
    findings: findings.kept,
    hidden: hidden === 0 ? undefined : hidden,
    anchors,
    given_up: givenUp,
    documents,
    exported_at: manifest?.exported_at,
    filter: manifest?.filter,
  });
};

export const auditCommands = (openExaminer: OpenExaminer = async () => ownExaminer): readonly Command[] => [
  verify(openExaminer),
  replay,
];
