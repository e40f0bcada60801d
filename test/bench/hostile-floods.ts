import type { Flood } from './hostile-flood-process.js';

export const floodNames = ['another-server', 'get', 'xml', 'pdf', 'pdf-by-token', 'refused', 'assets', 'post'] as const;

export type FloodName = (typeof floodNames)[number];

/** `key` is the flooding company's; `links` are paths with tokens of its PDFs, and `bareOrigin` is the unrelated server. */
export type FloodTarget = {
  origin: string;
  bareOrigin: string;
  key: string;
  ids: readonly string[];
  links: readonly string[];
};

type FloodPlan = Omit<Flood, 'milliseconds'>;

const get = (paths: readonly string[]) => ({ kind: 'get', paths }) as const;

const ASSETS = ['/docs/assets/redoc.standalone.js', '/openapi.json'];

/** Each company client repeats at once and as often as it can, over so many connections. */
export const floods: Readonly<Record<FloodName, { name: string; plan(target: FloodTarget): FloodPlan }>> = {
  'another-server': {
    name: 'flood of another server',
    plan: ({ bareOrigin: origin }) => ({ origin, what: get(['/']), inFlight: 32 }),
  },
  get: {
    name: 'GET flood',
    plan: ({ origin, key, ids }) => ({ origin, key, what: get(ids.map((id) => `/v1/nfse/${id}`)), inFlight: 32 }),
  },
  pdf: {
    name: 'PDF flood',
    plan: ({ origin, key, ids }) => ({ origin, key, what: get(ids.map((id) => `/v1/nfse/${id}/pdf`)), inFlight: 64 }),
  },
  'pdf-by-token': {
    name: 'PDF flood by token',
    plan: ({ origin, links }) => ({ origin, what: get(links), inFlight: 64 }),
  },
  xml: {
    name: 'XML flood',
    plan: ({ origin, key, ids }) => ({ origin, key, what: get(ids.map((id) => `/v1/nfse/${id}/xml`)), inFlight: 32 }),
  },
  // One link opens 60 times a minute, so nearly every answer is 429.
  refused: {
    name: 'flood of refusals',
    plan: ({ origin, links }) => ({ origin, what: get(links.slice(0, 1)), inFlight: 32 }),
  },
  assets: {
    name: 'assets flood',
    plan: ({ origin }) => ({ origin, what: get(ASSETS), inFlight: 32 }),
  },
  post: {
    name: 'POST flood',
    plan: ({ origin, key }) => ({ origin, key, what: { kind: 'post' }, inFlight: 32 }),
  },
};
