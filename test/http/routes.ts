import { issueBodyOf } from './demo.js';

const ID = 'nfse_0190a1b2-0000-7000-8000-000000000000';

export type Route = { name: string; path: string; template: string; json?: unknown; write: boolean };

/** The seven routes, for what holds on each of them. */
export const routes: readonly Route[] = [
  { name: 'issue', path: '/v1/nfse', template: '/v1/nfse', json: issueBodyOf(), write: true },
  { name: 'find', path: '/v1/nfse?reference=r', template: '/v1/nfse', write: false },
  { name: 'query', path: `/v1/nfse/${ID}`, template: '/v1/nfse/:id', write: false },
  { name: 'cancel', path: `/v1/nfse/${ID}/cancel`, template: '/v1/nfse/:id/cancel', json: {}, write: true },
  { name: 'pdf', path: `/v1/nfse/${ID}/pdf`, template: '/v1/nfse/:id/pdf', write: false },
  { name: 'xml', path: `/v1/nfse/${ID}/xml`, template: '/v1/nfse/:id/xml', write: false },
  { name: 'activities', path: '/v1/activities', template: '/v1/activities', write: false },
];

export const requestOf = ({ json }: Route): { json?: unknown } => (json === undefined ? {} : { json });
