import { withoutCopy } from '../adapters/vault/lost-key.js';
import type { GenerationState, GenerationStatus } from '../adapters/vault/rotation.js';
import type { Check } from '../cli/session.js';
import { counted } from '../cli/text.js';
import type { ExportSigner } from '../ports/export-signer.js';

/** No fault can be in it: auditors are given this line, by another way than the exports. */
export const exportKeyCheck = async (signer: ExportSigner): Promise<Check> => ({
  ...{ name: 'export key', ok: true },
  detail: `exports are signed by ${await signer.publicKey()}`,
});

/** What sealed the events of before opens them for ever, so a lost generation is a fault and an old one is none. */
export const masterKeyCheck = (generations: readonly GenerationStatus[]): Check => {
  const name = 'master key';
  const named = (state: GenerationState) => generations.filter((one) => one.state === state);
  const lost = named('lost').map(({ generation }) => generation);
  if (lost.length > 0) {
    const detail = `generation ${lost.join(', ')} is not in the key file: what it sealed cannot be opened`;
    return { name, ok: false, detail, cure: `restore its line from your copy of the key file (${withoutCopy(lost)})` };
  }
  const old = named('opening').reduce((sum, { certificates, dayKeys }) => sum + certificates + dayKeys, 0);
  const sealing = named('sealing').map(({ generation }) => generation);
  const waiting = named('waiting').map(({ generation }) => generation);
  const givenUp = named('given_up').map(({ generation }) => generation);
  const detail = [
    `${sealing.join()} seals`,
    ...(waiting.length === 0 ? [] : [`${waiting.join(', ')} waits in the key file`]),
    ...(givenUp.length === 0 ? [] : [`${givenUp.join(', ')} is given up`]),
    ...(old === 0
      ? []
      : [
          `${counted(old, 'certificate or day key is', 'certificates and day keys are')} still under an older generation`,
        ]),
  ].join(', ');
  return { name, ok: old === 0, detail, ...(old + waiting.length === 0 ? {} : { cure: 'nfse master-key rotate' }) };
};
