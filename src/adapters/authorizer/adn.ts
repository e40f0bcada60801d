import type { Caller } from '../../ports/authorizer.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { createAgents } from './agents.js';
import { type Exchange, exchange } from './exchange.js';

export type AdnOptions = {
  /** Base URL of one service in one environment, used as a prefix: `https://adn.host/parametrizacao`. */
  address: string;
  /** Trusted beside the public roots. */
  trustRootsPem: readonly string[];
  /** Limit of one call, from the wait for a socket to the last byte. */
  timeoutMs: number;
  certificateOf(caller: Caller): Promise<CompanyCertificate | undefined>;
};

/** The calls to one service of the ADN over mutual TLS, whose answers have at most `maxBytes`. `close` drops the connections. */
export const createAdnCalls = (options: AdnOptions, maxBytes: number) => {
  const agents = createAgents(options.trustRootsPem);
  return {
    get: async (caller: Caller, path: string): Promise<Exchange> => {
      const certificate = await options.certificateOf(caller).catch(() => undefined);
      if (certificate === undefined) return { kind: 'not_handed', reason: 'certificate_missing' };
      const agent = agents.agentOf(certificate);
      if (agent === undefined) return { kind: 'not_handed', reason: 'certificate_unusable' };
      return await exchange({
        agent,
        method: 'GET',
        url: new URL(`${options.address.replace(/\/+$/, '')}${path}`),
        connectTimeoutMs: options.timeoutMs,
        timeoutMs: options.timeoutMs,
        maxBytes,
        identityOnly: true,
      });
    },
    close: agents.close,
  };
};
