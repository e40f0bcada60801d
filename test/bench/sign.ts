import { createPrivateKey, sign } from 'node:crypto';
import { createDocumentSigner } from '../../src/adapters/authorizer/document-signer.js';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { buildDps } from '../../src/domain/dps/build-dps.js';
import { acceptedFacts } from '../domain/dps/facts.js';
import type { BenchResult } from './event-log.js';

/** Enough for the compilers of JavaScript and WebAssembly to have finished, as in a service that runs. */
const WARM_UP = 4_000;
const ROUNDS = 2_000;

/**
 * A DPS built, checked against the XSD and signed, against the bare RSA-2048 signature of node:crypto over as many bytes.
 * The two alternate call by call, so that a slow moment of the machine meets both. Ratio of the medians; aim 0.7.
 */
export const benchSign = async (): Promise<BenchResult[]> => {
  const { privateKeyPem, certificatePem } = issueCertificate({ subjectName: 'BENCH', validDays: 1, now: NOW });
  const key = createPrivateKey(privateKeyPem);
  const signer = createDocumentSigner();
  const bareInput = Buffer.alloc(SIGNED_INFO_BYTES, 'x');
  const bare: number[] = [];
  const ours: number[] = [];
  for (let number = 1; number <= WARM_UP + ROUNDS; number += 1) {
    bare.push(millisecondsOf(() => sign('sha256', bareInput, key)));
    ours.push(millisecondsOf(() => signer.signDps(dps(number), { privateKeyPem, certificatePem })));
  }
  const [bareMs, oursMs] = [bare, ours].map((times) => median(times.slice(WARM_UP)));
  if (bareMs === undefined || oursMs === undefined) throw new Error('nothing was measured');
  const detail = `${oursMs.toFixed(3)} ms a DPS against ${bareMs.toFixed(3)} ms a bare signature`;
  return [{ name: 'DPS build and sign', ratio: bareMs / oursMs, detail }];
};

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

const millisecondsOf = (work: () => unknown): number => {
  const begun = performance.now();
  work();
  return performance.now() - begun;
};

const median = (times: readonly number[]): number | undefined =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
