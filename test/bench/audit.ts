import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { invoices } from '../../projections/invoices.js';
import type { Examiner } from '../../src/app/audit/examiner.js';
import { exportEvents } from '../../src/app/audit/export-events.js';
import { verifyExport } from '../../src/app/audit/verify-export.js';
import { verifyLog } from '../../src/app/audit/verify-log.js';
import { readExport } from '../../src/cli/export-file.js';
import { compareWithLog } from '../../src/projector/drift.js';
import { examiningThreads, thisMachine } from '../../src/runtime/config/machine.js';
import { openExaminingThreads } from '../../src/runtime/operator/examining-threads.js';
import { dice, edits, exportOf, verified } from '../support/fixture/log-edits.js';
import { auditHarness, testSigner } from '../support/harness/audit.js';
import { writeExport } from '../support/write-export.js';
import { type AuditLog, openAuditLog } from './audit-log.js';
import { AUDIT_AIM, rated } from './rated.js';
import { atLeast, below, EDIT_ROW, type Row } from './report.js';

const TRIES = 200;

/**
 * Export and verify over a log of issued invoices (aim: test/bench/README.md), memory compared with a tenth of the log, and edits found
 * compared with edits made.
 */
export const benchAudit = async (): Promise<readonly Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-audit-'));
  const opened = await openAuditLog();
  const { log, events, pool } = opened;
  const examiner = openExaminingThreads(examiningThreads(thisMachine()));
  try {
    return [
      await rated(
        'audit verify: the log',
        opened,
        async () => {
          const report = await verifyLog(log, { examiner });
          if (report.events < events || report.findings.total > 0) throw new Error('the generated log does not verify');
        },
        AUDIT_AIM,
      ),
      await rated(
        'audit verify: drift of the invoices',
        opened.ofInvoices,
        async () => {
          const outcome = await compareWithLog(invoices, { db: pool, log });
          if (outcome.kind !== 'compared' || outcome.drifts.length > 0) throw new Error('the generated rows drift');
        },
        AUDIT_AIM,
      ),
      await rated('events export', opened, async () => void (await exported(opened, join(folder, 'log.ndjson')))),
      await rated(
        'events export, gzip',
        opened,
        async () => void (await exported(opened, join(folder, 'log.ndjson.gz'))),
      ),
      await rated('audit verify: a file', opened, () => verifyFile(join(folder, 'log.ndjson'), examiner), AUDIT_AIM),
      await memoryRow(opened, folder),
      ...(await editRows()),
    ];
  } finally {
    await examiner.close();
    await opened.close();
    await rm(folder, { recursive: true, force: true });
  }
};

const exported = async ({ log }: AuditLog, file: string): Promise<void> => {
  const exporting = exportEvents({}, { log });
  await writeExport(file, exporting.lines());
  await exporting.finish();
};

/** Without a manifest, whose cost grows with its length. */
const verifyFile = async (file: string, examiner: Examiner): Promise<void> => {
  const source = await readExport(file);
  const report = await verifyExport({ ...source, manifest: undefined, trusted: [] }, { examiner });
  if (report.findings.total !== 1) throw new Error('the exported file does not verify');
};

const MEMORY_AIM = 1.5;

/** The most memory in use during the export of the whole log, compared with a tenth of it; memory that is not collected yet does not count. */
const memoryRow = async (opened: AuditLog, folder: string): Promise<Row> => {
  const mostInUse = async (share: number): Promise<number> => {
    const exporting = exportEvents({}, { log: opened.log });
    let most = 0;
    let seen = 0;
    const measured = async function* () {
      for await (const chunk of exporting.lines()) {
        yield chunk;
        collectGarbage();
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        most = Math.max(most, heapUsed + arrayBuffers);
        seen += chunk.split('\n').length - 1;
        if (seen >= opened.events * share) return;
      }
    };
    await writeExport(join(folder, 'memory.ndjson'), measured());
    return most;
  };
  const [tenth, all] = [await mostInUse(0.1), await mostInUse(1)];
  const ratio = all / tenth;
  const mega = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MB`;
  const detail = `heap and buffers in use after each page of all events, ${mega(tenth)} with a tenth of them`;
  return { name: 'memory of an export', figure: mega(all), ratio, aim: below(MEMORY_AIM, ratio), detail };
};

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** The mutation table: every kind of edit, tried at random places, and how many were found. */
const editRows = async (): Promise<readonly Row[]> => {
  const signer = testSigner();
  const harness = await auditHarness();
  const texts = await exportOf(harness.log, signer);
  const trusted = await signer.publicKeys();
  const rows: Row[] = [];
  for (const [name, edit] of Object.entries(edits)) {
    let tried = 0;
    let found = 0;
    const kinds = new Set<string>();
    for (let seed = 1; tried < TRIES; seed += 1) {
      const changed = edit(texts, dice(seed));
      if (changed === undefined) continue;
      tried += 1;
      const report = await verified(changed, trusted);
      if (report.findings.total > 0) found += 1;
      for (const { kind } of report.findings.kept) kinds.add(kind);
    }
    const share = found / tried;
    rows.push({
      name: `${EDIT_ROW}${name}`,
      figure: `${found} of ${tried} found`,
      ratio: share,
      aim: atLeast(1, share),
      detail: [...kinds].sort().join(' '),
    });
  }
  return rows;
};
