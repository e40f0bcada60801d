import type { StreamName } from '../../domain/common/ids.js';
import type { LogPosition, Revision } from '../../ports/event-log.js';
import type { ExaminedEvent } from './examine.js';
import { type Examiner, examined, ownExaminer } from './examiner.js';
import { createFindings, type Findings, logEndFinding, MAX_FINDINGS } from './finding.js';
import { type CheckReport, createLogChecker, type LogChecker, type LogScope } from './log-checker.js';
import { headOf, isSignedBy, type Manifest, type ManifestStream, readManifest, signedText } from './manifest.js';
import { merkleRoot } from './merkle.js';
import { createPositionAccount } from './position-account.js';
import { compareAnchors, createAnchorCollection, type PublishedFile } from './published-anchors.js';

type ExportFile = {
  /** Lines of the file, decompressed, without their ends; throws `UnreadableFile`. */
  lines(): AsyncIterable<readonly string[]>;
  /** Of the file as it is on disk; called after the lines were read or could not be read. */
  fileHash(): Promise<{ sha256: string; bytes: number }>;
  /** Undefined when the export has no manifest. */
  manifest: string | undefined;
  /** Public keys whose signature the reader trusts. */
  trusted: readonly string[];
};

/** Thrown for a file that cannot be decompressed or read; the message names no content. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

type ExportOptions = {
  examiner?: Examiner;
  onEvents?(events: number): void;
  /** Anchors that an export of a whole log must hold. */
  published?: readonly PublishedFile[];
};

/** A small gzip file may unpack to billions of lines. What is found afterwards still has room among the findings that are kept. */
const MAX_UNREADABLE = MAX_FINDINGS / 2;

/** Checks an export with its manifest and a public key; needs no service and no secret. */
export const verifyExport = async (
  file: ExportFile,
  { examiner = ownExaminer, onEvents, published = [] }: ExportOptions = {},
): Promise<CheckReport> => {
  const findings = createFindings();
  const manifest = checkedManifest(file, findings);
  const checker = createLogChecker(scopeOf(manifest), findings, manifest?.key_seconds);
  const { checkStart, checkEnds } = createManifestComparison(manifest, checker, findings);
  const extent = createExtentCheck(manifest, checker, findings);
  const anchors = createAnchorCollection();
  let line = 0;
  let unreadable = 0;
  try {
    for await (const { examinations } of examined(file.lines(), (items) => ({ form: 'lines', items }), examiner)) {
      for (const { event } of examinations) {
        line += 1;
        if (event === undefined) {
          findings.add({ kind: 'unreadable_line', detail: `line ${line} is no event` });
          unreadable += 1;
          if (unreadable === MAX_UNREADABLE)
            throw new UnreadableFile(`the file is no export: ${unreadable} lines up to line ${line} are no events`);
        } else {
          checkStart(event.stream, event.revision);
          extent.add(event);
          anchors.add(event);
          checker.check(event);
        }
      }
      onEvents?.(checker.events);
    }
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    findings.add({ kind: 'unreadable_file', detail: `${error.message}, after ${checker.events} events` });
  }
  const report = checker.finish();
  checkEnds();
  extent.finish();
  for (const finding of await compareAnchors(published, anchors)) findings.add(finding);
  if (manifest !== undefined) await compareFile(manifest, file, checker, findings);
  return report;
};

/** A manifest that cannot be trusted is still compared: it may show where the file was changed. */
const checkedManifest = ({ manifest: text, trusted }: ExportFile, findings: Findings): Manifest | undefined => {
  if (text === undefined) {
    findings.add({ kind: 'missing_manifest', detail: 'only a manifest says what the file should hold' });
    return undefined;
  }
  const manifest = readManifest(text);
  if (manifest === undefined) {
    findings.add({ kind: 'bad_manifest', detail: 'it is not the manifest of an export of this format' });
    return undefined;
  }
  if (!trusted.includes(manifest.public_key)) {
    const detail = `it names ${manifest.public_key.slice(0, 60)}, which is not a key that you trust`;
    findings.add({ kind: 'unknown_signer', detail });
  }
  if (!isSignedBy(manifest.public_key, signedText(headOf(manifest)), manifest.signature)) {
    findings.add({ kind: 'bad_signature', detail: 'the manifest is not what was signed' });
  }
  const root = merkleRoot(manifest.streams);
  if (root !== manifest.merkle_root || manifest.streams.length !== manifest.stream_count) {
    findings.add({ kind: 'bad_manifest', detail: 'the root of its list of streams is not the signed root' });
  }
  return manifest;
};

/** Release 0.2.0 left out events one by one by their instants, so in an export with `to` alone a stream may begin in its middle too. */
const scopeOf = (manifest: Manifest | undefined): LogScope => {
  const { company, from, to } = manifest?.filter ?? {};
  if (from !== undefined || to !== undefined) return 'period';
  return company === undefined ? 'whole' : 'streams';
};

/** Compares what the manifest says of each stream with what the file holds. */
const createManifestComparison = (manifest: Manifest | undefined, { streams }: LogChecker, findings: Findings) => {
  const named = new Map<StreamName, ManifestStream>();
  for (const stream of manifest?.streams ?? []) named.set(stream.stream, stream);
  return {
    checkStart: (stream: StreamName, revision: Revision): void => {
      if (manifest === undefined || streams.has(stream)) return;
      const wanted = named.get(stream);
      if (wanted === undefined) {
        findings.add({ kind: 'unknown_stream', stream, revision, detail: 'the manifest does not name this stream' });
      } else if (wanted.first_revision !== revision) {
        const detail = `the stream begins here, the manifest says at ${wanted.first_revision}`;
        findings.add({ kind: 'missing_revision', stream, revision, detail });
      }
    },
    checkEnds: (): void => {
      for (const { stream, revision, events, hash } of named.values()) {
        const found = streams.get(stream);
        if (found === undefined) {
          findings.add({ kind: 'missing_stream', stream, detail: `the manifest names it up to revision ${revision}` });
        } else if (found.head.revision !== revision) {
          const detail = `the stream ends at revision ${found.head.revision}, the manifest says ${revision}`;
          findings.add({ kind: 'head_mismatch', stream, revision, detail });
        } else if (found.head.hash !== hash) {
          const detail = 'the last hash is another one: the stream was rewritten';
          findings.add({ kind: 'head_mismatch', stream, revision, detail });
        } else if (found.events !== events) {
          const detail = `the file has ${found.events} events of it, the manifest says ${events}`;
          findings.add({ kind: 'missing_revision', stream, detail });
        }
      }
    },
  };
};

/** Whether an export of a whole log has each event up to the head that its manifest names. Earlier versions did not name it. */
const createExtentCheck = (manifest: Manifest | undefined, checker: LogChecker, findings: Findings) => {
  const isWhole = manifest !== undefined && scopeOf(manifest) === 'whole';
  const account = isWhole && manifest.dense_positions === true ? createPositionAccount() : undefined;
  const named = isWhole ? manifest.head_position : undefined;
  const head = named === undefined ? null : (BigInt(named) as LogPosition);
  return {
    /** Called before the checker sees the event. */
    add: (event: ExaminedEvent): void => {
      account?.add(event, event, checker.streams.get(event.stream)?.head.revision ?? -1);
    },
    finish: (): void => {
      for (const finding of [...logEndFinding(checker.lastPosition, head), ...(account?.finish() ?? [])])
        findings.add(finding);
    },
  };
};

const compareFile = async (
  manifest: Manifest,
  file: ExportFile,
  checker: LogChecker,
  findings: Findings,
): Promise<void> => {
  const { sha256, bytes } = await file.fileHash();
  if (sha256 !== manifest.sha256) {
    const size =
      bytes === manifest.bytes
        ? `${bytes} bytes, as exported`
        : `${bytes} bytes, and was exported with ${manifest.bytes}`;
    findings.add({ kind: 'file_changed', detail: `its SHA-256 is not the signed SHA-256; it has ${size}` });
  } else if (checker.events !== manifest.events) {
    findings.add({
      kind: 'file_changed',
      detail: `it holds ${checker.events} events, the manifest says ${manifest.events}`,
    });
  }
};
