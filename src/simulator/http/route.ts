import type { Mode } from '../../domain/common/ids.js';
import { ENVIRONMENT_FACTS } from '../environment.js';

/** The call that method and path name. */
export type Route =
  | { operation: 'issue' }
  | { operation: 'lookup'; dpsId: string; headOnly: boolean }
  | { operation: 'fetch'; accessKey: string }
  | { operation: 'event'; accessKey: string }
  | { operation: 'event_lookup'; accessKey: string; type: string; sequence: string }
  | { operation: 'parameters'; path: readonly string[] }
  | { operation: 'none'; status: 307 | 404 | 405 | 501 };

export type Addressed = { mode?: Mode; route: Route };

const MODES: readonly Mode[] = ['test', 'live'];

/**
 * Paths are case-sensitive (docs/national-system.md#environments). Of the look-ups of events only the whole path exists
 * (docs/national-system.md#event-paths).
 */
export const routeOf = (method: string, url: string): Addressed => {
  const path = url.split('?', 1)[0] ?? '';
  const parameters = parametersRoute(method, path);
  if (parameters !== undefined) return parameters;
  for (const mode of MODES) {
    const base = `${ENVIRONMENT_FACTS[mode].basePath}/`;
    if (path.startsWith(base)) return { mode, route: routeBelow(method, path.slice(base.length).split('/')) };
    if (path.toLowerCase().startsWith(base.toLowerCase())) return { mode, route: wrongCase };
  }
  return { route: notFound };
};

/** The parameters API, in reality another server. Here each environment has a path; the path without one is of restricted production. */
const parametersRoute = (method: string, path: string): Addressed | undefined => {
  const [, mode = 'test', below] = /^(?:\/(test|live))?\/parametrizacao\/(.+)$/.exec(path) ?? [];
  if (below === undefined) return undefined;
  const route = only(method === 'GET', { operation: 'parameters', path: below.split('/') });
  return { mode: mode === 'live' ? 'live' : 'test', route };
};

/** The answer to a path in the wrong case, such as `/sefinnacional/…` (docs/national-system.md#environments). */
const wrongCase: Route = { operation: 'none', status: 307 };
const notFound: Route = { operation: 'none', status: 404 };
const wrongMethod: Route = { operation: 'none', status: 405 };

const routeBelow = (method: string, [resource, id, ...rest]: readonly string[]): Route => {
  switch (resource) {
    case 'nfse':
      return id === undefined ? only(method === 'POST', { operation: 'issue' }) : noteRoute(method, id, rest);
    case 'dps':
      if (id === undefined || rest.length > 0) return notFound;
      return only(method === 'GET' || method === 'HEAD', {
        operation: 'lookup',
        dpsId: id,
        headOnly: method === 'HEAD',
      });
    case 'DANFSe':
    case 'ParametrosMunicipais':
      return { operation: 'none', status: 501 };
    default:
      return notFound;
  }
};

const noteRoute = (method: string, accessKey: string, rest: readonly string[]): Route => {
  const [events, type, sequence, ...more] = rest;
  if (events === undefined) return only(method === 'GET', { operation: 'fetch', accessKey });
  if (events !== 'eventos' || more.length > 0) return notFound;
  if (type === undefined) return only(method === 'POST', { operation: 'event', accessKey });
  if (sequence === undefined) return notFound;
  return only(method === 'GET', { operation: 'event_lookup', accessKey, type, sequence });
};

const only = (isRightMethod: boolean, route: Route): Route => (isRightMethod ? route : wrongMethod);
