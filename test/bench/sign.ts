import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { createDocumentSigner } from '../../src/adapters/authorizer/document-signer.js';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { buildDps } from '../../src/domain/dps/build-dps.js';
import { acceptedFacts } from '../support/fixture/dps-facts.js';
import { atLeast, perSecond, type Row } from './report.js';
import { interleave, median } from './rounds.js';

/** Enough for the compilers of JavaScript and WebAssembly to have finished, as in a service that runs. */
const WARM_UP = 4_000;
const ROUNDS = 15;
const PER_ROUND = 400;
/** As many as the issuer has under way. */
const IN_FLIGHT = 16;
const AIM = 0.7;

/**
 * DPS built, checked against the XSD and signed, against bare RSA-2048 signatures of node:crypto over as many bytes: both in
 * libuv's pool, 16 under way, in short rounds that take turns. Counted is the processor time of the process, all threads of it:
 * elapsed time would tell how many cores the rest of the machine leaves to either. Median of the ratios of neighbours.
 */
export const benchSign = async (): Promise<readonly Row[]> => {
  const { privateKeyPem, certificatePem } = issueCertificate({ subjectName: 'BENCH', validDays: 1, now: NOW });
  const key = createPrivateKey(privateKeyPem);
  const signer = createDocumentSigner();
  const bareInput = Buffer.alloc(SIGNED_INFO_BYTES, 'x');
  const bare = (): Promise<unknown> => signInPool(bareInput, key);
  let number = 0;
  const ours = (): Promise<unknown> => {
    number += 1;
    return signer.signDps(dps(number), { privateKeyPem, certificatePem });
  };
  await rateOf(WARM_UP, ours);
  const sides = { ours: () => rateOf(PER_ROUND, ours), bare: () => rateOf(PER_ROUND, bare) };
  const measured = await interleave(ROUNDS, sides, (rate) => rate);
  const { ratio } = measured;
  return [
    {
      name: 'DPS build and sign',
      figure: perSecond(median(measured.ours), 'DPS'),
      floor: perSecond(median(measured.bare), 'signatures'),
      ratio,
      aim: atLeast(AIM, ratio),
      detail: 'of one core; the floor is raw RSA-2048',
    },
  ];
};

/** Per second of one core. */
const rateOf = async (count: number, work: () => Promise<unknown>): Promise<number> => {
  const begun = process.cpuUsage();
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  const { user, system } = process.cpuUsage(begun);
  return (count / (user + system)) * 1_000_000;
};

const signInPool = (data: Buffer, key: KeyObject): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign('sha256', data, key, (error, value) => (error === null ? resolve(value) : reject(error)));
  });

const NOW = '2026-09-15T13:00:00.000Z';

/** Length of the canonical SignedInfo, the bytes that RSA-SHA256 covers. */
const SIGNED_INFO_BYTES = 850;

/** Another number, customer and text each time, as in production: nothing can be remembered from the call before. */
const dps = (number: number): string =>
  buildDps({
    mode: 'test',
    series: '1',
    number,
    accepted: acceptedFacts({
      description: `Aula avulsa de natação, turma ${number}`,
      amountInCents: 8_000 + number,
      customer: { type: 'br', document: String(10_000_000_000 + number), name: `Maria José da Conceição ${number}` },
    }),
    currencyCode: () => undefined,
  }).xml;
