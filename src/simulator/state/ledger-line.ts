import { createHash } from 'node:crypto';

/** The document is the last member of a line, so that loading parses only what is before it. */
const DOCUMENT = ',"document":"';

const END = '"}';

const SUM = ',"sum":"';

const SUM_LENGTH = 16;

/** One line of the ledger: the record, a checksum over record and document, and the document (base64 of the gzipped XML). */
export const ledgerLine = (record: object, document: string): string => {
  const head = JSON.stringify(record).slice(0, -1);
  return `${head}${SUM}${sumOf(head, document)}"${DOCUMENT}${document}${END}`;
};

/** The record of a line; undefined for a damaged line. Lines of earlier versions have no checksum. */
export const recordOf = (line: Buffer): unknown => {
  const at = line.indexOf(DOCUMENT);
  if (at === -1 || line.toString('latin1', line.length - END.length) !== END) return undefined;
  const { head, sum } = withoutSum(line.toString('utf8', 0, at));
  const document = line.subarray(at + DOCUMENT.length, line.length - END.length);
  if (sum !== undefined && sum !== sumOf(head, document)) return undefined;
  try {
    return JSON.parse(`${head}}`);
  } catch {
    return undefined;
  }
};

/** The document of a line. */
export const documentOf = (line: string): string =>
  line.slice(line.lastIndexOf(DOCUMENT) + DOCUMENT.length, -END.length);

const withoutSum = (text: string): { head: string; sum?: string } => {
  const at = text.length - SUM.length - SUM_LENGTH - 1;
  if (!text.startsWith(SUM, at)) return { head: text };
  return { head: text.slice(0, at), sum: text.slice(at + SUM.length, -1) };
};

const sumOf = (head: string, document: string | Buffer): string =>
  createHash('sha256').update(head).update(document).digest('hex').slice(0, SUM_LENGTH);
