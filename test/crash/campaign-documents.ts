import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { loadInvoice } from '../../src/app/read/read-invoice.js';
import type { ReadInvoiceEvent } from '../../src/domain/invoice/events.js';
import type { CrashHarness } from '../support/harness/crash.js';
import { wholeLog } from './aftermath.js';

/** The official schema of a document, and the element that its outer signature covers. */
const KINDS = {
  DPS: 'infDPS',
  NFSe: 'infNFSe',
  pedRegEvento: 'infPedReg',
  evento: 'infEvento',
} as const;
type Kind = keyof typeof KINDS;

/** Files that one call of a tool is given. */
const BATCH = 200;

/** Counts by kind; a tool that is not installed is named in its place. */
type Checked = { line: string; faults: readonly string[] };

/** Checks every document of the log against the official schemas, and its signatures with independent programs. */
export const checkDocuments = async (harness: CrashHarness): Promise<Checked> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-documents-'));
  try {
    const files = await writeDocuments(harness, folder);
    const results = (Object.keys(KINDS) as Kind[]).map((kind) => {
      const own = files.filter((file) => file.endsWith(`.${kind}.xml`));
      return { kind, count: own.length, xmllint: schemaFaults(kind, own), xmlsec1: signatureFaults(kind, own) };
    });
    const counts = results.map(
      ({ kind, count, xmllint, xmlsec1 }) =>
        `${kind} ${count}: xmllint ${okOf(count, xmllint)}, xmlsec1 ${okOf(count, xmlsec1)}`,
    );
    const faults = results.flatMap(({ xmllint, xmlsec1 }) => [...(xmllint ?? []), ...(xmlsec1 ?? [])]);
    return { line: `${files.length} documents (${counts.join('; ')})`, faults };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const okOf = (count: number, faults: readonly string[] | undefined): string =>
  faults === undefined ? 'is not installed' : `ok ${count - faults.length}`;

const writeDocuments = async ({ engines }: CrashHarness, folder: string): Promise<readonly string[]> => {
  const streams = new Set((await wholeLog({ engines }, 'nfse')).map(({ stream }) => stream));
  const files: string[] = [];
  for (const stream of streams) {
    for (const event of (await loadInvoice(stream, engines.store)).events) {
      for (const [kind, gzip] of documentsOf(event)) {
        if (gzip === undefined) throw new Error(`the key of a document (${kind}) is gone`);
        const file = join(folder, `${files.length}.${kind}.xml`);
        await writeFile(file, gunzipSync(Buffer.from(gzip, 'base64')));
        files.push(file);
      }
    }
  }
  return files;
};

const documentsOf = (event: ReadInvoiceEvent): readonly (readonly [Kind, string | undefined])[] => {
  switch (event.type) {
    case 'IssuanceAttempted':
      return [['DPS', event.data.signedDpsGzip]];
    case 'Authorized':
      return [['NFSe', event.data.nfseXmlGzip]];
    case 'CancellationAttempted':
      return [['pedRegEvento', event.data.signedRequestGzip]];
    case 'CancellationConfirmed':
      return [['evento', event.data.eventXmlGzip]];
    default:
      return [];
  }
};

const schemaFaults = (kind: Kind, files: readonly string[]): readonly string[] | undefined => {
  const schema = fileURLToPath(new URL(`../../src/xml/xsd/v1.01/${kind}_v1.01.xsd`, import.meta.url));
  return inBatches(files, (batch) => {
    const { error, stderr } = spawnSync('xmllint', ['--nonet', '--noout', '--schema', schema, ...batch], TEXT);
    const fine = new Set(stderr.split('\n'));
    return { isHere: error === undefined, faults: batch.filter((file) => !fine.has(`${file} validates`)) };
  });
};

/** One by one when a batch does not pass: the program names no file. */
const signatureFaults = (kind: Kind, files: readonly string[]): readonly string[] | undefined =>
  inBatches(files, (batch) => {
    const ids = Object.values(KINDS).flatMap((name) => ['--id-attr:Id', `http://www.sped.fazenda.gov.br/nfse:${name}`]);
    const own = ['--node-xpath', `/*/*[local-name()='${KINDS[kind]}']/following-sibling::*[local-name()='Signature']`];
    const verify = (some: readonly string[]) =>
      spawnSync('xmlsec1', ['--verify', '--insecure', ...ids, ...own, ...some], TEXT);
    const { error, status, stderr, stdout } = verify(batch);
    const passed = `${stdout}\n${stderr}`.split('\n').filter((line) => line === 'OK').length;
    if (status === 0 && passed === batch.length) return { isHere: true, faults: [] };
    return { isHere: error === undefined, faults: batch.filter((file) => verify([file]).status !== 0) };
  });

const TEXT = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;

const inBatches = (
  files: readonly string[],
  check: (batch: readonly string[]) => { isHere: boolean; faults: readonly string[] },
): readonly string[] | undefined => {
  const faults: string[] = [];
  for (let from = 0; from < files.length; from += BATCH) {
    const checked = check(files.slice(from, from + BATCH));
    if (!checked.isHere) return undefined;
    faults.push(...checked.faults);
  }
  return faults;
};
