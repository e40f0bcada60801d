import type { Mode } from '../../domain/common/ids.js';
import type { Simulator } from '../../simulator/options.js';
import type { Config } from '../config/config.js';

/** The services of the ADN that are called here, by the first part of their paths. */
export type AdnService = 'parametrizacao' | 'contribuintes';

/**
 * The address of a service of the ADN for a mode: as configured, otherwise that of this process's simulator, otherwise derived from the authorizer's
 * address. Undefined where this process knows no authorizer.
 */
export const adnAddress = (
  config: Pick<Config, 'parameters' | 'distribution' | 'authorizer' | 'simulator'>,
  simulator: Pick<Simulator, 'urls'> | undefined,
  mode: Mode,
  service: AdnService,
): string | undefined => {
  const configured = service === 'parametrizacao' ? config.parameters[mode] : config.distribution[mode];
  if (configured !== undefined) return configured;
  const address = config.authorizer[mode];
  if (address === undefined) return simulator && besideSimulator(simulator.urls[mode], service);
  return config.simulator.elsewhere.includes(mode)
    ? besideSimulator(address, service)
    : besideAuthorizer(address, service);
};

/** A simulator has both environments on one host, with different paths: `/test/SefinNacional`, `/test/parametrizacao`. */
const besideSimulator = (address: string, service: AdnService): string => address.replace(/\/[^/]*$/, `/${service}`);

/** `https://adn.<rest>/parametrizacao` for `sefin.<rest>`, otherwise `/parametrizacao` on the authorizer's host. */
const besideAuthorizer = (authorizer: string, service: AdnService): string => {
  const { host } = new URL(authorizer);
  return `https://${host.replace(/^sefin\./, 'adn.')}/${service}`;
};
