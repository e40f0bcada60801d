import type { Instant } from '../../domain/common/time.js';
import type { Caller } from '../../ports/authorizer.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { createAgents } from './agents.js';
import { type Exchange, exchangeWith, usable } from './exchange.js';

export type AdnOptions = {
  /** Base URL of one service in one environment, used as a prefix: `https://adn.host/parametrizacao`. */
  address: string;
  /** Trusted beside the public roots. */
  trustRootsPem: readonly string[];
  /** Limit of one call, from the wait for a socket to the last byte. */
  timeoutMs: number;
  certificateOf(caller: Caller): Promise<CompanyCertificate | undefined>;
  now(): Instant;
};

/** The calls to one service of the ADN over mutual TLS, whose answers have at most `maxBytes`. `close` drops the connections. */
export const createAdnCalls = (options: AdnOptions, maxBytes: number) => {
  const agents = createAgents(options.trustRootsPem);
  return {
    get: async (caller: Caller, path: string): Promise<Exchange> => {
      const certificate = await usable(options.certificateOf(caller), options.now);
      if ('kind' in certificate) return certificate;
      return await exchangeWith(agents, certificate, options.address, path, {
        method: 'GET',
        connectTimeoutMs: options.timeoutMs,
        timeoutMs: options.timeoutMs,
        maxBytes,
        identityOnly: true,
      });
    },
    close: agents.close,
  };
};
