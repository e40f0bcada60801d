import type { AdnOptions } from '../../adapters/authorizer/adn.js';
import type { Mode } from '../../domain/common/ids.js';
import { type AdnService, adnAddress, trustRoots } from '../engines/authorizers.js';
import type { CertificateOf } from '../engines/companies.js';
import type { Parts } from './parts.js';

/** No request waits for an answer, and a slow one must not hold the connection for long. */
const CALL_TIMEOUT_MS = 10_000;

/** One client of a service of the ADN for each mode whose address is known, because each mode trusts different servers. */
export const adnClients = <Client>(
  create: (options: AdnOptions) => Client,
  service: AdnService,
  asked: readonly Mode[],
  { clock, config, simulator }: Parts,
  certificateOf: CertificateOf,
): ReadonlyMap<Mode, Client> => {
  const clients = new Map<Mode, Client>();
  for (const mode of asked) {
    const address = adnAddress(config, simulator, mode, service);
    if (address === undefined) continue;
    const trustRootsPem = trustRoots(config, simulator, mode);
    const options = { address, trustRootsPem, timeoutMs: CALL_TIMEOUT_MS, certificateOf, now: () => clock.now() };
    clients.set(mode, create(options));
  }
  return clients;
};
