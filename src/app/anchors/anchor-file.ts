import * as v from 'valibot';
import { date, hash, instant, place, shape, text, whole } from '../audit/schema-parts.js';
import type { StandingAnchor } from './anchor-log.js';

const FORMAT = 'nfse-log-anchor/1';

/** What operators publish: an anchor beside the identity of the log. */
export type AnchorFile = StandingAnchor & { format: typeof FORMAT; log: string };

export const anchorFileName = (day: string): string => `anchor-${day}.json`;

export const anchorFileText = (anchor: StandingAnchor, log: string): string =>
  `${JSON.stringify({ format: FORMAT, log, ...anchor }, null, 2)}\n`;

const part = shape({ root: hash, streams: whole, events: whole });

const schema = shape({
  format: v.literal(FORMAT),
  log: text,
  day: date,
  after: v.union([v.literal(''), place]),
  upTo: place,
  live: part,
  test: part,
  at: instant,
  hash,
});

/** Undefined for anything but a published anchor. */
export const readAnchorFile = (json: string): AnchorFile | undefined => {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(json), { abortEarly: true });
    return success ? output : undefined;
  } catch {
    return undefined;
  }
};
