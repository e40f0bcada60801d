import { createHash, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { createDocumentSigner } from '../../src/adapters/authorizer/document-signer.js';
import { identityOf } from '../../src/adapters/authorizer/documents.js';
import { type ReadingJob, readAnswer } from '../../src/adapters/authorizer/reading.js';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { buildDps } from '../../src/domain/dps/build-dps.js';
import { acceptedFacts } from '../support/fixture/dps-facts.js';
import { issued, noteAround } from '../support/fixture/sefin.js';
import { below, type Row } from './report.js';
import { interleave, median } from './rounds.js';

/** Another text and another signature each time, as in production; the authorizer's certificate is always the same. */
const NOTES = 64;
/** Enough for the compilers of JavaScript and WebAssembly to have finished, as in a service that runs. */
const WARM_UP = 2_000;
const ROUNDS = 15;
const PER_ROUND = 4 * NOTES;

/**
 * Processor time of reading and judging one answer with an authorized note of 7 KB, from the bytes of the body to the result. The bare work is what
 * no reader can leave out: JSON, base64, gzip, the two digests and one RSA-2048 verification with a key that is parsed already. `exactly` is the
 * same note when libxml2 has to look at it element by element, as it does for every note that is not usual (ADR 40). A service does this work in a
 * thread (ADR 31).
 */
export const benchReadNote = async (): Promise<readonly Row[]> => {
  const answers = await Promise.all(Array.from({ length: NOTES }, (_, number) => answerWith(number)));
  const bytes = median(answers.map(({ bare }) => bare.noteBytes));
  const usual = await against(answers, ({ job }) => readDone(job));
  const exact = await against(answers, ({ job }) => readDone(withOtherBytes(job)));
  const rowOf = (name: string, { ours, bare, ratio }: typeof usual): Row => ({
    name,
    figure: `${ours.toFixed(2)} ms`,
    floor: `${bare.toFixed(3)} ms`,
    ratio,
    detail: `of processor for a note of ${bytes} bytes`,
  });
  return [
    { ...rowOf('read a note', usual), aim: below(0.7, usual.ours, ' ms') },
    rowOf('  exactly, when it is not usual', exact),
  ];
};

type Answer = {
  job: ReadingJob<'sentDps'>;
  bare: { body: Buffer; noteBytes: number; signedInfo: Buffer; value: Buffer; key: KeyObject };
};

const answerWith = async (number: number): Promise<Answer> => {
  const { bytes } = await signer.signDps(dps(number), identity);
  const note = noteAround(bytes);
  const body = Buffer.from(JSON.stringify(issued(note)));
  const exchange = { kind: 'answered', status: 201, contentType: 'application/json', body } as const;
  const signedInfo = Buffer.alloc(SIGNED_INFO_BYTES, 'x');
  return {
    job: { name: 'sentDps', expected: identityOf(bytes, 'DPS', 'infDPS'), exchange },
    bare: { body, noteBytes: note.length, signedInfo, value: sign('sha256', signedInfo, identity.privateKeyPem), key },
  };
};

const readDone = (job: ReadingJob<'sentDps'>): void => {
  const { kind } = readAnswer(job);
  if (kind !== 'done') throw new Error(`the note was read as ${kind}`);
};

/** The same with one blank more in what was sent: our document is then not there byte for byte, and libxml2 decides that it is ours. */
const withOtherBytes = ({ expected, ...job }: ReadingJob<'sentDps'>): ReadingJob<'sentDps'> => ({
  ...job,
  expected: { ...expected, document: OTHER_BYTES },
});

const OTHER_BYTES = new Uint8Array(Buffer.from('<DPS >'));

const unavoidable = ({ bare: { body, signedInfo, value, key } }: Answer): void => {
  const { nfseXmlGZipB64 }: { nfseXmlGZipB64: string } = JSON.parse(body.toString('utf8'));
  const xml = gunzipSync(Buffer.from(nfseXmlGZipB64, 'base64'));
  for (const part of [xml, xml.subarray(0, xml.length / 2)]) createHash('sha256').update(part).digest();
  if (!verify('sha256', signedInfo, key, value)) throw new Error('the signature does not hold');
};

type Compared = { ours: number; bare: number; ratio: number };

/** Milliseconds of processor for each answer; the ratio compares rates, so 1 means no cost beyond the bare work. */
const against = async (answers: readonly Answer[], read: (answer: Answer) => void): Promise<Compared> => {
  const side = (work: (answer: Answer) => void) => async (): Promise<number> => rateOf(answers, PER_ROUND, work);
  rateOf(answers, WARM_UP, read);
  const { ours, bare, ratio } = await interleave(ROUNDS, { ours: side(read), bare: side(unavoidable) }, (rate) => rate);
  return { ours: 1_000 / median(ours), bare: 1_000 / median(bare), ratio };
};

/** Per second of one core. */
const rateOf = (answers: readonly Answer[], count: number, work: (answer: Answer) => void): number => {
  const begun = process.cpuUsage();
  for (let done = 0; done < count; done += answers.length) for (const answer of answers) work(answer);
  const { user, system } = process.cpuUsage(begun);
  return (Math.ceil(count / answers.length) * answers.length * 1_000_000) / (user + system);
};

const signer = createDocumentSigner();
const identity = issueCertificate({ subjectName: 'BENCH', validDays: 1, now: '2026-09-15T13:00:00.000Z' });
const key = new X509Certificate(identity.certificatePem).publicKey;

/** Length of the canonical SignedInfo, the bytes that RSA-SHA256 covers. */
const SIGNED_INFO_BYTES = 850;

const dps = (number: number): string =>
  buildDps({
    mode: 'test',
    series: '1',
    number: number + 1,
    accepted: acceptedFacts({
      description: `Aulas de natação da turma ${number}. `.repeat(18),
      amountInCents: 8_000 + number,
      customer: { type: 'br', document: String(10_000_000_000 + number), name: `Maria José da Conceição ${number}` },
    }),
    currencyCode: () => undefined,
  }).xml;
