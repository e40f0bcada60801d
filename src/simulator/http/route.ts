import type { Mode } from '../../domain/common/ids.js';
import { ENVIRONMENT_FACTS } from '../environment.js';

/** The call that method and path name. */
export type Route =
  | { operation: 'issue' }
  | { operation: 'lookup'; dpsId: string; headOnly: boolean }
  | { operation: 'fetch'; accessKey: string }
  | { operation: 'event'; accessKey: string }
  | { operation: 'event_lookup'; accessKey: string; type: string; sequence: string }
  | { operation: 'event_list'; accessKey: string }
  | { operation: 'parameters'; path: readonly string[] }
  | { operation: 'distribution'; path: readonly string[]; query: string }
  | { operation: 'none'; status: 404 | 405 | 501 }
  /** `location` is the same path in the spelling of the Swagger. */
  | { operation: 'none'; status: 307; location: string };

export type Addressed = { mode?: Mode; route: Route };

const MODES: readonly Mode[] = ['test', 'live'];

/**
 * The base path in other letter cases is answered alike, or with 307 under `strict`: both were seen (docs/national-system.md#environments). The
 * rest of a path is case-sensitive. The list of a note's events is in the manual, and the live servers were seen without it; under `strict` it is
 * missing (docs/national-system.md#event-paths).
 */
export const routeOf = (method: string, url: string, { strict }: { strict: boolean }): Addressed => {
  const [path = '', query = ''] = url.split('?', 2);
  const atAdn = adnRoute(method, path, query);
  if (atAdn !== undefined) return atAdn;
  for (const mode of MODES) {
    const { basePath } = ENVIRONMENT_FACTS[mode];
    const below = pathBelow(basePath, path);
    if (below === undefined) continue;
    const location = `${basePath}/${below}`;
    if (strict && path !== location) return { mode, route: { operation: 'none', status: 307, location } };
    const route = routeBelow(method, below.split('/'));
    return { mode, route: strict && route.operation === 'event_list' ? wrongMethod : route };
  }
  return { route: notFound };
};

/** What follows the base path, in any letter case; undefined when `path` begins otherwise. Some clients write `/API` before the application. */
const pathBelow = (basePath: string, path: string): string | undefined =>
  [`${basePath}/`, `${basePath}/`.replace('/Sefin', '/API/Sefin')]
    .filter((base) => path.slice(0, base.length).toLowerCase() === base.toLowerCase())
    .map((base) => path.slice(base.length))[0];

/** The services of the ADN, in reality another server. Here each environment has a path; the path without one is of restricted production. */
const adnRoute = (method: string, path: string, query: string): Addressed | undefined => {
  const [, mode = 'test', service, below] =
    /^(?:\/(test|live))?\/(parametrizacao|contribuintes)\/(.+)$/.exec(path) ?? [];
  if (below === undefined) return undefined;
  const parts = below.split('/');
  const route: Route =
    service === 'parametrizacao'
      ? { operation: 'parameters', path: parts }
      : { operation: 'distribution', path: parts, query };
  return { mode: mode === 'live' ? 'live' : 'test', route: only(method === 'GET', route) };
};

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
  if (type === undefined && method === 'GET') return { operation: 'event_list', accessKey };
  if (type === undefined) return only(method === 'POST', { operation: 'event', accessKey });
  if (sequence === undefined) return notFound;
  return only(method === 'GET', { operation: 'event_lookup', accessKey, type, sequence });
};

const only = (isRightMethod: boolean, route: Route): Route => (isRightMethod ? route : wrongMethod);
