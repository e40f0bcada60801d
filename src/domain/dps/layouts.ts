import type { Mode } from '../common/ids.js';
import type { FiscalDate } from '../common/time.js';

/** A layout with its official schemas: what this program can send. */
export type PublishedLayout = {
  kind: 'published';
  /** `versao` of DPS and event request (XSD `TVerNFSe`). */
  version: string;
  /** The folder of `src/xml/xsd` with the official files, all of one bundle. */
  schemas: string;
  /** The first day, by the stamp of the document, of this layout in each environment. */
  from: Readonly<Record<Mode, FiscalDate>>;
  /** Who published it, and when. */
  source: string;
};

/** A layout that is announced and whose schemas are not published: this program cannot send it. */
export type AnnouncedLayout = {
  kind: 'announced';
  name: string;
  /** The first day on which the environments may want it; a day only if a source names one. */
  from: Readonly<Record<Mode, FiscalDate>>;
  source: string;
};

/**
 * The layouts of the national system, oldest first (docs/national-system.md#layouts). A new layout is a folder of schemas and a row here; what
 * its documents say differently is code of `src/domain/dps`.
 *
 * A published row is never changed, and a new row begins after the day of the release that brings it. Otherwise a document that was built by an
 * older release would be built again with other bytes (docs/architecture.md#never-twice).
 */
export const layouts: readonly (PublishedLayout | AnnouncedLayout)[] = [
  {
    kind: 'published',
    version: '1.01',
    schemas: 'v1.01',
    from: { live: '2026-08-10', test: '2026-07-27' },
    source: 'bundle of 2026-07-27, in production since 2026-08-10',
  },
  {
    kind: 'announced',
    name: '1.04 of Anexo VI (NT 009)',
    from: { live: '2026-12-01', test: '2026-12-01' },
    source:
      'one public project names this day (2026-11-12); NT 009 v1.01 itself names none, and its schemas were not found',
  },
];
