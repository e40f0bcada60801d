import { setTimeout as pause } from 'node:timers/promises';
import { type PlainClient, postOf } from './plain-client.js';

export type Route = 'GET' | 'XML' | 'POST' | 'PDF';

export const watchedRoutes: readonly Route[] = ['GET', 'XML', 'POST', 'PDF'];

/** Milliseconds of each request, and how many requests of all routes were refused. */
export type Times = Record<Route, number[]> & { refused: number };

/** The same in quiet and flooded phases, so that figures over as many requests are compared. */
const PER_SECOND: Readonly<Record<Route, number>> = { GET: 50, XML: 30, POST: 12, PDF: 8 };

export type Watch = (milliseconds: number, into: Times) => Promise<void>;

/**
 * The clients of a company that is not attacking: each route is asked at an even rate whatever the answers take, so that a slow answer holds back no
 * later request. A PDF is asked for once in all invoices; there must be more of them than the service keeps PDFs, so that each is drawn.
 */
export const createWatch = (client: PlainClient, ids: readonly string[]): Watch => {
  const asked: Record<Route, number> = { GET: 0, XML: 0, POST: 0, PDF: 0 };
  const ask = async (route: Route, into: Times): Promise<void> => {
    const count = asked[route];
    asked[route] += 1;
    const id = ids[(route === 'PDF' ? count : count * STRIDE) % ids.length] ?? '';
    const path = route === 'POST' ? '/v1/nfse' : `/v1/nfse/${id}${ENDINGS[route]}`;
    const sentAt = performance.now();
    const { status } = await client.exchange(path, route === 'POST' ? postOf(count) : undefined);
    if (status !== 200 && status !== 202) into.refused += 1;
    into[route].push(performance.now() - sentAt);
  };
  const askAtRate = async (route: Route, milliseconds: number, into: Times): Promise<void> => {
    const everyMs = 1_000 / PER_SECOND[route];
    const begun = performance.now();
    const underWay: Promise<void>[] = [];
    for (let due = Math.random() * everyMs; due < milliseconds; due += everyMs * (0.5 + Math.random())) {
      await pause(Math.max(0, begun + due - performance.now()));
      underWay.push(ask(route, into));
    }
    await Promise.all(underWay);
  };
  return async (milliseconds, into) => {
    await Promise.all(watchedRoutes.map((route) => askAtRate(route, milliseconds, into)));
  };
};

/** Neighbours in the list are neighbours on disk too. */
const STRIDE = 7;

const ENDINGS: Record<Exclude<Route, 'POST'>, string> = { GET: '', XML: '/xml', PDF: '/pdf' };
