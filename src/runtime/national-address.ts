import type { Mode } from '../domain/shared/ids.js';
import type { Simulator } from '../simulator/start.js';
import type { Config } from './config.js';

/**
 * Where the parameters API of a mode is: as configured, else beside the simulator of this process, else as it follows from the
 * authorizer's address. Undefined where this process knows no authorizer.
 */
export const parametersAddress = (
  { parameters, authorizer, simulator: { elsewhere } }: Pick<Config, 'parameters' | 'authorizer' | 'simulator'>,
  simulator: Pick<Simulator, 'parametersUrls'> | undefined,
  mode: Mode,
): string | undefined => {
  const configured = parameters[mode];
  if (configured !== undefined) return configured;
  const address = authorizer[mode];
  if (address === undefined) return simulator?.parametersUrls[mode];
  return elsewhere.includes(mode) ? besideSimulator(address) : besideAuthorizer(address);
};

/** A simulator has both environments on one host, told apart by the path: `/test/SefinNacional`, `/test/parametrizacao`. */
const besideSimulator = (address: string): string => address.replace(/\/[^/]*$/, '/parametrizacao');

/** `https://adn.<rest>/parametrizacao` of `sefin.<rest>`, else `/parametrizacao` on the authorizer's host. */
const besideAuthorizer = (authorizer: string): string => {
  const { host } = new URL(authorizer);
  return `https://${host.replace(/^sefin\./, 'adn.')}/parametrizacao`;
};
