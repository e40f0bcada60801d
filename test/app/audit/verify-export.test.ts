import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_FINDINGS } from '../../../src/app/audit/finding.js';
import type { Manifest } from '../../../src/app/audit/manifest.js';
import { merkleRoot } from '../../../src/app/audit/merkle.js';
import { readSharedJson } from '../../../src/app/audit/schema-parts.js';
import { COMPANY } from '../../support/fixture/histories.js';
import { dice, type ExportTexts, edits, exportOf, verified } from '../../support/fixture/log-edits.js';
import { type AuditHarness, auditHarness, testSigner } from '../../support/harness/audit.js';

const TRIES = 25;

describe('verifying an export', () => {
  const signer = testSigner();
  let harness: AuditHarness;
  let texts: ExportTexts;
  let key: string;
  beforeAll(async () => {
    harness = await auditHarness();
    texts = await exportOf(harness.log, signer);
    key = await signer.publicKey();
  });

  const kinds = async (changed: { file: string; manifest: string | undefined }, trusted = [key]) =>
    (await verified(changed, trusted)).findings.kept.map(({ kind }) => kind);

  it('finds nothing wrong with what was exported, vanished test invoices included', async () => {
    const report = await verified(texts, [key]);
    expect(report.findings.kept).toEqual([]);
    expect(report).toMatchObject({ events: (await harness.all()).length, anchors: { anchors: 2, testPartsGone: 1 } });
  });

  it('reads nothing into an export of one company or of a stretch of time', async () => {
    const ofCompany = await exportOf(harness.log, signer, { company: COMPANY });
    expect((await verified(ofCompany, [key])).findings.kept).toEqual([]);
    const [first] = await harness.all();
    const from = first?.metadata.recordedAt ?? '';
    const stretch = {
      from: from.replace('T12:00', 'T12:01'),
      to: from.replace('-21T', '-22T').replace('12:00', '12:01'),
    };
    const ofTime = await exportOf(harness.log, signer, stretch);
    expect((await verified(ofTime, [key])).events).toBeGreaterThan(3);
    expect((await verified(ofTime, [key])).findings.kept).toEqual([]);
  });

  it('finds what was dropped at the beginning of a stream of a stretch of time', async () => {
    const [first] = await harness.all();
    const stretch = await exportOf(harness.log, signer, { from: first?.metadata.recordedAt ?? '' });
    const [, ...rest] = stretch.file.split('\n');
    const found = (await verified({ ...stretch, file: rest.join('\n') }, [key])).findings.kept;
    expect(found).toContainEqual(
      expect.objectContaining({ kind: 'missing_revision', stream: first?.stream, revision: 1 }),
    );
  });

  it('says who is not trusted, that the manifest is missing, and that it is none', async () => {
    expect(await kinds(texts, [await testSigner().publicKey()])).toEqual(['unknown_signer']);
    expect(await kinds({ file: texts.file, manifest: undefined })).toEqual(['missing_manifest']);
    expect(await kinds({ file: texts.file, manifest: '{}' })).toEqual(['bad_manifest']);
  });

  it.each([
    ['sha256', (text: string) => text.replace('{', `{"sha256": "${'0'.repeat(64)}",`)],
    ['an escaped name', (text: string) => text.replace('{', `{"\\u0073ha256": "${'0'.repeat(64)}",`)],
    ['a member of a stream', (text: string) => text.replace('{"stream"', '{"stream": "a", "stream"')],
  ])(
    'refuses a manifest with %s twice, of which another program could show the unsigned one',
    async (_what, change) => {
      const manifest = change(texts.manifest);
      expect(JSON.parse(manifest)).toEqual(JSON.parse(texts.manifest));
      expect(await kinds({ file: texts.file, manifest })).toEqual(['bad_manifest']);
    },
  );

  it('takes a manifest whose texts look like members', async () => {
    const text = '{"note": "\\"a\\": 1", "more": [{"note": "b\\\\"}]}';
    const schema = v.strictObject({ note: v.string(), more: v.array(v.strictObject({ note: v.string() })) });
    expect(readSharedJson(schema, text)).toEqual(JSON.parse(text));
  });

  it('does not believe a manifest that fits a changed file but was signed by nobody', async () => {
    const manifest = JSON.parse(texts.manifest) as Manifest;
    const streams = manifest.streams.slice(1);
    const forged = { ...manifest, streams, stream_count: streams.length, merkle_root: merkleRoot(streams) };
    expect(await kinds({ file: texts.file, manifest: JSON.stringify(forged) })).toContain('bad_signature');
  });

  it('names the stream and revision at fault', async () => {
    const lines = texts.file.trimEnd().split('\n');
    const stream = harness.streamOf(9);
    const without = lines.filter((line) => !(line.includes(`"${stream}"`) && line.includes('"revision":1,')));
    const found = (await verified({ ...texts, file: `${without.join('\n')}\n` }, [key])).findings.kept;
    expect(found).toContainEqual(expect.objectContaining({ kind: 'missing_revision', stream, revision: 2 }));
    const gone = lines.filter((line) => !line.includes(`"${stream}"`));
    const missing = (await verified({ ...texts, file: `${gone.join('\n')}\n` }, [key])).findings.kept;
    expect(missing).toContainEqual(expect.objectContaining({ kind: 'missing_stream', stream }));
  });

  it.each(Object.entries(edits))(
    'finds %s wherever it is made, and never says that the file alone is another one',
    async (name, edit) => {
      let tried = 0;
      for (let seed = 1; tried < TRIES; seed += 1) {
        const changed = edit(texts, dice(seed));
        if (changed === undefined) continue;
        tried += 1;
        const found = await kinds(changed);
        expect([name, seed, found.length > 0]).toEqual([name, seed, true]);
        // A changed bit in a position or in white space changes no event; only the hash of the file shows it.
        const isNamed = found.some((kind) => kind !== 'file_changed');
        if (!name.includes('bit')) expect([name, seed, isNamed]).toEqual([name, seed, true]);
      }
    },
  );

  it('names a line whose data nests 100,000 levels deep, and finds what it finds without it', async () => {
    const lines = texts.file.trimEnd().split('\n');
    const at = lines.findIndex((line) => line.includes(`"${harness.streamOf(9)}"`) && line.includes('"revision":1,'));
    const withLine = (line: string) => ({ ...texts, file: `${lines.with(at, line).join('\n')}\n` });
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    const deep = (lines[at] ?? '').replace('"data":{', `"data":{"a":${nested},`);
    expect(JSON.parse(deep)).toHaveProperty('data.a');
    const found = (await verified(withLine(deep), [key])).findings.kept;
    expect(found).toContainEqual({ kind: 'unreadable_line', detail: `line ${at + 1} is no event` });
    expect(found.filter(({ kind }) => kind !== 'file_changed')).toEqual(
      (await verified(withLine('x'), [key])).findings.kept.filter(({ kind }) => kind !== 'file_changed'),
    );
  });

  it('keeps no more findings than a person can read, and counts the rest', async () => {
    const [line = ''] = texts.file.split('\n', 1);
    const strangers = Array.from({ length: MAX_FINDINGS + 501 }, (_, n) =>
      line.replace(/"stream":"[^"]*"/, `"stream":"x-${n}"`),
    );
    const report = await verified({ ...texts, file: strangers.join('\n') }, [key]);
    expect(report.findings.kept).toHaveLength(MAX_FINDINGS);
    expect(report.findings.total).toBeGreaterThan(MAX_FINDINGS + 500);
  });

  it('gives up a file of lines that are no events, and says so among the findings that are kept', async () => {
    const { total, kept } = (await verified({ ...texts, file: `${texts.file}${'\n'.repeat(2_000)}` }, [key])).findings;
    const events = (await harness.all()).length;
    const detail = `the file is no export: 500 lines up to line ${events + 500} are no events, after ${events} events`;
    expect(kept).toContainEqual({ kind: 'unreadable_file', detail });
    expect(total).toBeLessThan(MAX_FINDINGS);
  });
});
