import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findAnchor } from '../../app/anchors/anchor-log.js';
import { compareAnchors, type PublishedFile } from '../../app/anchors/compare-anchors.js';
import type { AnchorCount } from '../../app/audit/anchor-walk.js';
import type { Finding, Findings } from '../../app/audit/finding.js';
import { readManifest } from '../../app/audit/manifest.js';
import { readPublicKey } from '../../app/audit/public-key.js';
import type { GivenUpCount } from '../../app/audit/sealed-count.js';
import { type DocumentCount, verifyDocuments } from '../../app/audit/verify-documents.js';
import { verifyExport } from '../../app/audit/verify-export.js';
import { verifyLog } from '../../app/audit/verify-log.js';
import { badUsage, type Command, type Flags, type Outcome, reported, textFlag } from '../command.js';
import { manifestOf, readExport } from '../export-file.js';
import { createProgress, type ProgressStream } from '../progress.js';
import type { Session } from '../session.js';
import { counted } from '../text.js';

export const verifyCommand = (stream: ProgressStream): Command => ({
  name: 'audit verify',
  positionals: [],
  summary: 'hash chains, shapes, invariants, anchors, and drift of the read models; exit 1 on any finding',
  options: {
    file: { type: 'string', help: 'an export instead of the log: FILE, with FILE.manifest.json beside it' },
    'public-key': {
      type: 'string',
      help: 'who must have signed it: the line of doctor, or a file with it or with PEM',
    },
    anchors: { type: 'string', help: 'a folder of published anchors to compare the log with' },
    documents: {
      type: 'boolean',
      help: 'open every signed document of the log too: its signature, digest and SHA-256',
    },
    'skip-drift': { type: 'boolean', help: 'leave the read models out' },
  },
  changes: false,
  run: ({ flags, session }) => {
    const file = textFlag(flags, 'file');
    if (file !== undefined && textFlag(flags, 'anchors') !== undefined) {
      return Promise.resolve(badUsage('--anchors compares the log, --file is read without it'));
    }
    if (file !== undefined && flags.documents === true) {
      return Promise.resolve(badUsage('--documents opens what the log keeps, in a file it is sealed'));
    }
    return file === undefined ? verifyTheLog(flags, session, stream) : verifyFile(file, flags, session, stream);
  },
});

type Opening = () => Promise<Session>;

const verifyTheLog = async (flags: Flags, session: Opening, stream: ProgressStream): Promise<Outcome> => {
  const folder = textFlag(flags, 'anchors');
  const published = folder === undefined ? [] : await anchorFiles(folder);
  if (published === undefined) return badUsage(`${folder} cannot be read`);
  const opened = await session();
  const progress = createProgress(stream);
  const report = await verifyLog(opened.log, ({ events, share }) => progress.show('verify', share, `${events} events`));
  const { findings } = report;
  const { readable } = report;
  const anchors = readable ? await compareAnchors(published, (day) => findAnchor(day, opened.store)) : [];
  for (const finding of anchors) findings.add(finding);
  const documents = flags.documents === true && readable ? await documentCount(opened, findings, progress) : undefined;
  const withDrift = flags['skip-drift'] !== true && readable;
  const drift = withDrift ? await driftFindings(opened, findings, progress) : undefined;
  progress.end();
  return outcomeOf({ ...report, ...(documents && { documents }) }, [
    ...(readable
      ? []
      : ['published anchors, documents and read models are not compared with a log that cannot be read as a whole']),
    ...(folder === undefined || !readable ? [] : [`${published.length} published anchors compared`]),
    ...(documents === undefined ? [] : [documentsText(documents)]),
    ...(drift === undefined ? [] : [`${drift.rows} rows of the read models compared`]),
  ]);
};

const documentCount = (
  { log, sealingKeys: keys, secondOpinion: oracle, embeddedDigest }: Session,
  findings: Findings,
  progress: ReturnType<typeof createProgress>,
): Promise<DocumentCount> =>
  verifyDocuments({ log, keys, oracle, embeddedDigest }, findings, ({ events, share }) =>
    progress.show('documents', share, `${events} events`),
  );

const documentsText = ({ checked, sealed }: DocumentCount): string =>
  `${counted(checked, 'signed document')} checked${sealed === 0 ? '' : `, ${sealed} whose key was destroyed left`}`;

const driftFindings = async (
  { drift }: Session,
  findings: Findings,
  progress: ReturnType<typeof createProgress>,
): Promise<{ rows: number }> => {
  const report = await drift(({ projection, events }) => progress.show(projection, 0, `${events} events folded`));
  for (const { projection, row, what } of report.drifts) {
    findings.add({ kind: 'read_model_drift', ...streamOf(row), detail: `${projection} ${row}: ${what}` });
  }
  for (const why of report.notCompared) findings.add({ kind: 'read_model_drift', detail: `not compared: ${why}` });
  return report;
};

/** Rows of invoices are keyed by their stream. */
const streamOf = (row: string): { stream?: string } => (/^nfse(?:Live|Test)-/.test(row) ? { stream: row } : {});

const verifyFile = async (file: string, flags: Flags, session: Opening, stream: ProgressStream): Promise<Outcome> => {
  const given = textFlag(flags, 'public-key');
  const key = given === undefined ? undefined : await publicKeyOf(given);
  if (given !== undefined && key === undefined) return badUsage('--public-key is no Ed25519 public key');
  const source = await readExport(file).catch(() => undefined);
  if (source === undefined) return badUsage(`${file} cannot be read`);
  // Without a key the only ones to trust are those of this installation, which must then be asked.
  const trusted = key === undefined ? await (await session()).exportSigner.publicKeys() : [key];
  const progress = createProgress(stream);
  const manifest = await readFile(manifestOf(file), 'utf8').catch(() => undefined);
  const report = await verifyExport({ ...source, manifest, trusted }, (events) =>
    progress.show('verify', source.share(), `${events} events`),
  ).finally(() => progress.end());
  return outcomeOf(report, manifest === undefined ? [] : [extentText(manifest)]);
};

/** An auditor must not take a part for the whole. */
const extentText = (manifest: string): string => {
  const read = readManifest(manifest);
  if (read === undefined) return 'nobody can tell what the export should hold';
  const { company, from, to } = read.filter;
  const parts = [
    ...(company === undefined ? [] : [`of company ${company}`]),
    ...(from === undefined ? [] : [`recorded at or after ${from}`]),
    ...(to === undefined ? [] : [`recorded before ${to}`]),
  ];
  const what = parts.length === 0 ? 'the whole log' : `ONLY THE PART ${parts.join(', ')}`;
  return `exported at ${read.exported_at}: ${what}`;
};

const publicKeyOf = async (given: string): Promise<string | undefined> =>
  readPublicKey(given) ?? readPublicKey(await readFile(given, 'utf8').catch(() => ''));

/** Undefined when the folder cannot be read. */
const anchorFiles = async (folder: string): Promise<readonly PublishedFile[] | undefined> => {
  const names = await readdir(folder).catch(() => undefined);
  const files = names?.filter((name) => /^anchor-.*\.json$/.test(name)).sort();
  return (
    files &&
    (await Promise.all(files.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') }))))
  );
};

type Report = {
  streams: number;
  events: number;
  findings: Findings;
  anchors: AnchorCount;
  givenUp: readonly GivenUpCount[];
  documents?: DocumentCount;
};

const outcomeOf = (report: Report, notes: readonly string[]): Outcome => {
  const { streams, events, findings, anchors, givenUp, documents } = report;
  const ok = findings.total === 0;
  const hidden = findings.total - findings.kept.length;
  const verdict = ok ? 'nothing is wrong' : counted(findings.total, 'finding');
  const text = [
    `${events} events in ${streams} streams, ${anchors.anchors} ${anchors.anchors === 1 ? 'anchor' : 'anchors'}: ${verdict}`,
    ...notes,
    ...givenUp.map((one) => `${counted(one.events, 'event')} sealed under ${one.generation}, which was given up`),
    ...findings.kept.map(lineOf),
    ...(hidden === 0 ? [] : [`and ${hidden} more`]),
  ].join('\n');
  return reported(ok, text, {
    ...{ ok, streams, events, findings: findings.kept },
    ...(hidden === 0 ? {} : { hidden }),
    ...{ anchors, given_up: givenUp },
    ...(documents === undefined ? {} : { documents }),
  });
};

const lineOf = ({ kind, stream, revision, detail }: Finding): string => {
  const place = stream === undefined ? '' : `  ${stream}${revision === undefined ? '' : `@${revision}`}`;
  return `${kind}${place}  ${detail}`;
};
