import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SignedXml } from 'xml-crypto';
import type { Finding } from './finding.js';
import type { DocumentFile, Raw } from './raw.js';

/** The element that the outer signature of each kind covers. */
const SIGNED: Readonly<Record<DocumentFile['kind'], string>> = {
  DPS: 'infDPS',
  NFSe: 'infNFSe',
  pedRegEvento: 'infPedReg',
  evento: 'infEvento',
};

/** Data, not code: the official schemas as the national system publishes them. */
const SCHEMAS = fileURLToPath(new URL('../../../src/xml/xsd/v1.01/', import.meta.url));

/** Files that one call of a program is given. */
const BATCH = 200;

/** How many documents each program passed; `not made` with the reason where it is not installed. */
export type Judged = { passed: number; of: number } | { notMade: string };

type DocumentJudgement = {
  findings: readonly Finding[];
  by: Readonly<Record<'xmllint' | 'xmlsec1' | 'xml-crypto', Judged>>;
};

export const judgeDocuments = ({ folder, documents }: Raw): DocumentJudgement => {
  const findings: Finding[] = [...alteredIn(folder, documents)];
  const run = (
    name: string,
    check: (files: readonly DocumentFile[]) => readonly DocumentFile[] | undefined,
  ): Judged => {
    const kinds = Object.keys(SIGNED) as DocumentFile['kind'][];
    let bad = 0;
    for (const kind of kinds) {
      const own = documents.filter((document) => document.kind === kind);
      for (let from = 0; from < own.length; from += BATCH) {
        const refused = check(own.slice(from, from + BATCH));
        if (refused === undefined) return { notMade: `${name} is not installed` };
        bad += refused.length;
        findings.push(...refused.map((document) => invalid(name, document)));
      }
    }
    return { passed: documents.length - bad, of: documents.length };
  };
  const by = {
    xmllint: run('xmllint', (files) => refusedByXmllint(folder, files)),
    xmlsec1: run('xmlsec1', (files) => refusedByXmlsec(folder, files)),
    'xml-crypto': run('xml-crypto', (files) => files.filter((document) => !isVerified(folder, document))),
  };
  return { findings, by };
};

const invalid = (program: string, { file, of }: DocumentFile): Finding => ({
  name: 'invalid_document',
  detail: `${program} refuses the document of ${of}`,
  evidence: file,
});

/** What a client downloaded, and what the log holds, is what the authorizer made, byte for byte. */
const alteredIn = (folder: string, documents: readonly DocumentFile[]): readonly Finding[] => {
  const made = new Map(
    documents.filter(({ from }) => from === 'authorizer').map((one) => [`${one.kind} ${one.of}`, one]),
  );
  return documents
    .filter(({ from, kind }) => from !== 'authorizer' && (kind === 'NFSe' || kind === 'evento'))
    .flatMap((document) => {
      const original = made.get(`${document.kind} ${document.of}`);
      const isSame =
        original !== undefined &&
        readFileSync(join(folder, original.file)).equals(readFileSync(join(folder, document.file)));
      return isSame
        ? []
        : [
            {
              name: 'altered_document' as const,
              detail: `the ${document.kind} of ${document.of} from the ${document.from} is not the authorizer's`,
              evidence: document.file,
            },
          ];
    });
};

const TEXT = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;

const refusedByXmllint = (folder: string, files: readonly DocumentFile[]): readonly DocumentFile[] | undefined => {
  const schema = join(SCHEMAS, `${files[0]?.kind}_v1.01.xsd`);
  const args = ['--nonet', '--noout', '--schema', schema, ...files.map(({ file }) => join(folder, file))];
  const { error, stderr } = spawnSync('xmllint', args, TEXT);
  if (error !== undefined) return undefined;
  const fine = new Set(stderr.split('\n'));
  return files.filter(({ file }) => !fine.has(`${join(folder, file)} validates`));
};

/** One by one when a batch does not pass, because the program names no file. */
const refusedByXmlsec = (folder: string, files: readonly DocumentFile[]): readonly DocumentFile[] | undefined => {
  const ids = Object.values(SIGNED).flatMap((name) => ['--id-attr:Id', `http://www.sped.fazenda.gov.br/nfse:${name}`]);
  const verify = (some: readonly DocumentFile[]) => {
    const signature = `/*/*[local-name()='${SIGNED[some[0]?.kind ?? 'DPS']}']/following-sibling::*[local-name()='Signature']`;
    const paths = some.map(({ file }) => join(folder, file));
    return spawnSync('xmlsec1', ['--verify', '--insecure', ...ids, '--node-xpath', signature, ...paths], TEXT);
  };
  const { error, status, stdout, stderr } = verify(files);
  if (error !== undefined) return undefined;
  const passed = `${stdout}\n${stderr}`.split('\n').filter((line) => line === 'OK').length;
  if (status === 0 && passed === files.length) return [];
  return files.filter((document) => verify([document]).status !== 0);
};

/** By the certificate that the signature carries; whose it is, is not asked here. */
const isVerified = (folder: string, { file }: DocumentFile): boolean => {
  const text = readFileSync(join(folder, file), 'utf8');
  const start = text.lastIndexOf('<Signature ');
  const signature = text.slice(start, text.lastIndexOf('</Signature>') + '</Signature>'.length);
  const [, certificate = ''] = /<X509Certificate>([^<]+)</.exec(signature) ?? [];
  const publicCert = `-----BEGIN CERTIFICATE-----\n${certificate.replaceAll(/\s/g, '')}\n-----END CERTIFICATE-----`;
  try {
    const verifier = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
    verifier.loadSignature(signature);
    return verifier.checkSignature(text);
  } catch {
    return false;
  }
};
