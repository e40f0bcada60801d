import { type Mode, modes } from '../common/ids.js';
import { addSeconds, brasiliaDate, DAY_SECONDS, type Instant } from '../common/time.js';
import { type AnnouncedLayout, layouts, type PublishedLayout } from './layouts.js';

/** Default namespace of every national document; prefixes are forbidden (E1228). */
export const NFSE_NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

/** Part of every document's digest: were it to follow the product's version, a rebuilt DPS would get another digest. */
export const VER_APLIC = 'nfse-issuance_1';

/** `tpAmb`: 1 production, 2 restricted production; it must match the host (E0006, E1845). */
export const tpAmb = { live: '1', test: '2' } as const satisfies Record<Mode, string>;

/** Slack for clocks that differ: the authorizer refuses stamps later than its own (E0008, E1843). */
export const CLOCK_SLACK_SECONDS = 60;

/** The layouts that this program can send, oldest first. */
export const publishedLayouts = (): readonly PublishedLayout[] => layouts.filter((row) => row.kind === 'published');

/**
 * The layout of a document: the last one in force on the day of its stamp (`dhEmi`, `dhEvento`), which follows from what was recorded. A document
 * that is built again therefore has its layout of the first time. The first row also holds for all days before it.
 */
export const layoutOf = (mode: Mode, stamp: string): PublishedLayout => {
  const [first, ...later] = publishedLayouts();
  if (first === undefined) throw new Error('there is no layout');
  const day = stamp.slice(0, 'AAAA-MM-DD'.length);
  return later.findLast(({ from }) => from[mode] <= day) ?? first;
};

/** The same for a canonical document of `buildDps` or `buildCancellation`. Throws for another text. */
export const layoutOfDocument = (xml: string): PublishedLayout => {
  const [, environment] = /<tpAmb>([12])<\/tpAmb>/.exec(xml) ?? [];
  const [, stamp] = /<dh(?:Emi|Evento)>([^<]+)</.exec(xml) ?? [];
  const mode = modes.find((one) => tpAmb[one] === environment);
  if (mode === undefined || stamp === undefined) throw new Error('a document without environment or stamp');
  return layoutOf(mode, stamp);
};

/** Seconds before its first day from which operators are warned of a layout without schemas. */
const NOTICE_SECONDS = 30 * DAY_SECONDS;

/** The announced layouts whose first day in this environment is less than 30 days away or has come. */
export const layoutsToCome = (mode: Mode, now: Instant): readonly AnnouncedLayout[] => {
  const day = brasiliaDate(addSeconds(now, NOTICE_SECONDS));
  return layouts.filter((row) => row.kind === 'announced').filter(({ from }) => from[mode] <= day);
};
