import { judgeCanceledAnswers, judgeFailures, judgeOrder, judgeRepeats, judgeTenants } from './answers.js';
import { type Judged, judgeDocuments } from './documents.js';
import type { Finding } from './finding.js';
import { judgeNotes, judgeNumbers, judgeOutcomes, waitsForItsHour } from './ledger.js';
import { judgeChain, judgeTold } from './log.js';
import type { Raw } from './raw.js';
import { judgeLastAnswers, judgeReplays, judgeRows } from './read-models.js';
import { judgeRequests, judgeWork } from './requests.js';
import { judgeSealing } from './sealed.js';
import { judgeLookUps, judgeSends } from './sends.js';
import { type Story, storiesOf } from './story.js';

/** What was looked at and what was found. Counts of the table come from the raw data alone. */
export type Verdict = {
  findings: readonly Finding[];
  counts: {
    requests: number;
    lostAnswers: number;
    invoices: number;
    /** Not judged, because only the hour of the contract ends them. */
    inTheirHour: number;
    notes: number;
    canceled: number;
    events: number;
    sends: number;
    lookUps: number;
    rows: number;
    replays: number;
    documents: number;
  };
  outcomes: Readonly<Record<string, number>>;
  /** Invoices by the number of look-ups of their DPS ids. */
  lookUpsPerInvoice: Readonly<Record<string, number>>;
  by: Readonly<Record<'xmllint' | 'xmlsec1' | 'xml-crypto', Judged>>;
};

/** Judges raw data of a run. `documents`: also the signed documents, whose files lie in the folder. */
export const judge = (raw: Raw, documents = judgeDocuments(raw)): Verdict => {
  const stories = storiesOf(raw.events);
  const findings = [
    ...judgeWork(raw),
    ...judgeNotes(raw, stories),
    ...judgeOutcomes(raw, stories),
    ...judgeNumbers(raw, stories),
    ...judgeChain(raw),
    ...judgeTold(raw, stories),
    ...judgeOrder(raw),
    ...judgeRepeats(raw),
    ...judgeRequests(raw, stories),
    ...judgeTenants(raw, stories),
    ...judgeCanceledAnswers(raw),
    ...judgeFailures(raw),
    ...judgeSends(raw, stories),
    ...judgeLookUps(raw, stories),
    ...judgeSealing(raw),
    ...judgeRows(raw),
    ...judgeLastAnswers(raw, stories),
    ...judgeReplays(raw),
    ...documents.findings,
    ...raw.troubles.map((detail): Finding => ({ name: 'trouble', detail, evidence: 'troubles.ndjson' })),
  ];
  return { findings, ...figuresOf(raw, stories), by: documents.by };
};

const figuresOf = (raw: Raw, stories: readonly Story[]): Omit<Verdict, 'findings' | 'by'> => {
  const outcomes: Record<string, number> = {};
  for (const { status } of stories) outcomes[status] = (outcomes[status] ?? 0) + 1;
  const lookUps = raw.calls.filter(({ method, path }) => method !== 'POST' && /\/dps\//i.test(path));
  const byDps = new Map<string, number>();
  for (const { path, environment } of lookUps) {
    const id = `${environment} ${path.slice(path.lastIndexOf('/') + 1)}`;
    byDps.set(id, (byDps.get(id) ?? 0) + 1);
  }
  const perInvoice: Record<string, number> = {};
  for (const { tenant, events } of stories) {
    const attempts = events.filter(({ type }) => type === 'IssuanceAttempted');
    const ids = new Set(attempts.map(({ data }) => `${tenant.mode} ${String(data.dpsId)}`));
    const count = [...ids].reduce((sum, id) => sum + (byDps.get(id) ?? 0), 0);
    perInvoice[count] = (perInvoice[count] ?? 0) + 1;
  }
  return {
    counts: {
      requests: raw.http.length,
      lostAnswers: raw.http.filter(({ lost }) => lost !== undefined).length,
      invoices: stories.length,
      inTheirHour: stories.filter((story) => waitsForItsHour(raw, story)).length,
      notes: raw.ledger.length,
      canceled: raw.ledger.filter(({ canceled_at }) => canceled_at !== undefined).length,
      events: raw.events.length,
      sends: raw.calls.filter(({ method, path }) => method === 'POST' && /\/nfse$/i.test(path)).length,
      lookUps: lookUps.length,
      rows: Object.values(raw.rows.live).reduce((sum, { length }) => sum + length, 0),
      replays: raw.replays.length,
      documents: raw.documents.length,
    },
    outcomes,
    lookUpsPerInvoice: perInvoice,
  };
};
