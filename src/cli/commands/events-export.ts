import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { appendAudit } from '../../app/audit/audit-trail.js';
import { revealEvent } from '../../app/audit/event-line.js';
import { exportEvents } from '../../app/audit/export-events.js';
import type { Finding, FindingKind } from '../../app/audit/finding.js';
import { type ExportFilter, type ManifestHead, manifestText, signedText } from '../../app/audit/manifest.js';
import { createUnopenedFields } from '../../app/audit/opened-fields.js';
import { present } from '../../domain/common/present.js';
import { DAY_SECONDS, isBefore } from '../../domain/common/time.js';
import { counted } from '../../lib/counted.js';
import { printableLine } from '../../lib/printable.js';
import { badUsage, type Command, type Flags, refused, textFlag, unknownCompany } from '../command.js';
import {
  draftExport,
  type ExportDraft,
  holdsSomething,
  manifestOf,
  removeEarlierDrafts,
  whyNotWritable,
} from '../export-file.js';
import { findingLine } from '../findings.js';
import { instantFlag } from '../flags.js';
import { type ShowProgress, withProgress } from '../progress.js';
import { tellRowsBehind } from '../rows-behind.js';
import { auditDeps, type Session } from '../session.js';

/** Puts file and manifest in place at the end: an export that fails leaves an earlier one as it was, and a file without a manifest is not whole. */
export const exportCommand: Command = {
  name: 'events export',
  summary: 'the log as NDJSON with a signed manifest that is verified without the service',
  options: {
    out: { value: 'FILE', help: 'the file; gzipped when its name ends in .gz', required: true },
    company: { value: 'CNPJ', help: 'only the streams of this CNPJ' },
    from: { value: 'TIME', help: 'from the first event that was recorded at or after this instant or day (UTC)' },
    to: { value: 'TIME', help: 'to the last event that was recorded before this instant or day (UTC)' },
    replace: { help: 'replace the file and its manifest when they are there' },
    reveal: { help: 'personal fields in clear, too; this is recorded with the actor' },
  },
  changes: true,
  needsDatabase: true,
  run: async ({ flags, actor, session, terminal }) => {
    const file = textFlag(flags, 'out') ?? '';
    // By convention a lone hyphen is stdout, where a manifest beside the export has no place.
    if (file === '-') return badUsage('--out names a file; the manifest is written beside it');
    const filter = filterOf(flags);
    if ('problem' in filter) return badUsage(filter.problem);
    const opened = await session();
    if (filter.company !== undefined && (await opened.readModel.company(filter.company)) === undefined) {
      await tellRowsBehind(opened, terminal, ['companies']);
      return unknownCompany(filter.company);
    }
    if (flags.replace !== true && (await holdsSomething(file)))
      return refused(`${file} is there already: choose another name, or --replace it`);
    const unwritable = await whyNotWritable(file);
    if (unwritable !== undefined) return badUsage(unwritable);
    const reveal = flags.reveal === true;
    const seen = { command: 'events export', subject: JSON.stringify(filter) };
    if (reveal) await appendAudit('PersonalDataRevealed', seen, auditDeps(opened, actor));
    const result = await withProgress(terminal, (progress, interrupted) =>
      written(file, { filter, reveal, interrupted }, opened, progress),
    );
    if (result === 'overtaken')
      return refused(`${file} was not written: another export into this file began before this one ended`);
    const { head, losses, unnamedLosses, unopened } = result;
    const size = `${counted(head.events, 'event')} in ${counted(head.stream_count, 'stream')}, ${head.bytes} bytes`;
    for (const finding of losses) {
      const what = LACKS.has(finding.kind) ? 'lacks events' : 'was changed';
      terminal.err(`the log ${what}: ${findingLine(finding)}`);
    }
    if (unnamedLosses > 0) terminal.err(`and ${unnamedLosses} more`);
    for (const line of unopened) terminal.err(printableLine(line));
    if (head.events === 0) terminal.err('the part that was asked for is empty: no event was exported');
    return {
      exit: losses.length === 0 && unopened.length === 0 ? 0 : 1,
      isReport: true,
      text: `${file}: ${size}\n${manifestOf(file)}: signed by ${head.public_key}`,
      // A manifest grows with the number of streams, so it is read back only when the JSON is needed.
      get json() {
        return JSON.parse(readFileSync(manifestOf(file), 'utf8')) as unknown;
      },
    };
  },
};

/** What shows that events are gone; all else shows that events are other ones. */
const LACKS: ReadonlySet<FindingKind> = new Set(['missing_revision', 'missing_position', 'log_end']);

type Written = {
  head: ManifestHead;
  losses: readonly Finding[];
  unnamedLosses: number;
  unopened: readonly string[];
};

const written = async (
  file: string,
  { filter, reveal, interrupted }: { filter: ExportFilter; reveal: boolean; interrupted: AbortSignal | undefined },
  { log, clock, exportSigner, sealingKeys, keySeconds }: Session,
  progress: ShowProgress,
): Promise<Written | 'overtaken'> => {
  const unopened = createUnopenedFields();
  const exported = exportEvents(filter, {
    log,
    onProgress: ({ events, share }) => progress('export', share, `${events} events`),
    ...(reveal ? { reveal: (event) => revealEvent(event, sealingKeys, unopened.add) } : {}),
  });
  await removeEarlierDrafts(file);
  const lines = await draftExport(file, exported.lines(), interrupted);
  try {
    const { sha256, bytes } = lines;
    const { head: found, losses, unnamedLosses, streams } = await exported.finish();
    const exported_at = clock.now();
    const public_key = await exportSigner.publicKey();
    const whole = { ...found, file: basename(file), bytes, sha256, exported_at, public_key };
    const head: ManifestHead = keySeconds < DAY_SECONDS ? { ...whole, key_seconds: keySeconds } : whole;
    const signature = await exportSigner.sign(signedText(head));
    const texts = pieces(manifestText(head, signature, streams()));
    const manifest = await draftExport(manifestOf(file), texts, interrupted);
    const isPut = await putBoth(file, lines, manifest).finally(manifest.discard);
    return isPut ? { head, losses, unnamedLosses, unopened: unopened.lines() } : 'overtaken';
  } finally {
    await lines.discard();
  }
};

/** The old manifest goes first: none may lie beside another export. False, and nothing is changed, once a later export has removed a draft. */
const putBoth = async (file: string, lines: ExportDraft, manifest: ExportDraft): Promise<boolean> => {
  for (const draft of [lines, manifest]) if (!(await draft.isThere())) return false;
  await rm(manifestOf(file), { force: true });
  await lines.put();
  await manifest.put();
  return true;
};

async function* pieces(texts: Iterable<string>): AsyncGenerator<string, void, void> {
  let some = '';
  for (const text of texts) {
    some += text;
    if (some.length < 65_536) continue;
    yield some;
    some = '';
  }
  yield some;
}

const filterOf = (flags: Flags): ExportFilter | { problem: string } => {
  const company = textFlag(flags, 'company');
  const from = instantFlag(flags, 'from');
  const to = instantFlag(flags, 'to');
  if (from === 'bad' || to === 'bad') return { problem: '--from and --to take an instant: 2026-11-21T12:00:00Z' };
  if (from !== undefined && to !== undefined && !isBefore(from, to)) return { problem: '--from must be before --to' };
  return present({ company, from, to });
};
