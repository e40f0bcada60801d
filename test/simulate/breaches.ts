import type { RecordedEvent } from '../../src/ports/event-log.js';
import { judgeNumbers } from '../proof/judge/ledger.js';
import { judgeChain } from '../proof/judge/log.js';
import type { LoggedEvent, Raw } from '../proof/judge/raw.js';
import { type Story, storiesOf } from '../proof/judge/story.js';
import type { Ledger } from './authorizer-double.js';
import type { Told } from './clients.js';

/** What is not as promised at the end of a life; the judge of the proof folds the log, so that no code is shared with the product. */
export const breachesOf = (recorded: readonly RecordedEvent[], ledger: Ledger, told: Told): readonly string[] => {
  const events = recorded.map(loggedOf);
  const stories = storiesOf(events);
  const raw = { events, manifest: { file: '', sha256: '', events: events.length, streams: [] }, exportSha256: '' };
  return [
    ...[...judgeNumbers(raw as unknown as Raw, stories), ...judgeChain(raw as unknown as Raw)].map(
      ({ detail }) => detail,
    ),
    ...[...told.ids].flatMap(([wish, ids]) => (ids.size > 1 ? [`${wish} was given ${ids.size} invoices`] : [])),
    ...[...told.statuses.values()].flatMap(backwardsIn),
    ...stories.flatMap((story) => breachOf(story, ledger)),
    ...foreignNotes(stories, ledger),
  ];
};

const loggedOf = ({ position, stream, revision, type, id, data, metadata }: RecordedEvent): LoggedEvent => ({
  position: String(position),
  stream,
  revision,
  type,
  id,
  data,
  at: metadata.recordedAt ?? '',
  meta: metadata,
});

const dpsIdsOf = ({ events }: Story): ReadonlySet<string> =>
  new Set(events.flatMap(({ type, data }) => (type === 'IssuanceAttempted' ? [String(data.dpsId)] : [])));

const breachOf = (story: Story, { notes, events }: Ledger): readonly string[] => {
  const { id, status, accessKey } = story;
  const ids = dpsIdsOf(story);
  const own = notes.filter(({ dpsId }) => ids.has(dpsId));
  const isGone = events.some((event) => own.some((note) => note.accessKey === event.accessKey));
  if (own.length > 1) return [`${id} became ${own.length} notes`];
  switch (status) {
    case 'queued':
    case 'processing':
      return [`${id} has no outcome`];
    case 'failed':
      return own.length === 0 ? [] : [`${id} is failed over a note`];
    case 'issued':
      if (own[0]?.accessKey !== accessKey) return [`${id} is issued without its note`];
      return isGone ? [`${id} is issued over an event that cancels its note`] : [];
    case 'canceled':
      return isGone ? [] : [`${id} is canceled without an event`];
    case 'indeterminate':
      return [];
  }
};

const foreignNotes = (stories: readonly Story[], { notes }: Ledger): readonly string[] => {
  const known = new Set(stories.flatMap((story) => [...dpsIdsOf(story)]));
  return notes.filter(({ dpsId }) => !known.has(dpsId)).map(({ dpsId }) => `${dpsId} was sent and not recorded`);
};

const ORDER = ['queued', 'processing', 'issued', 'failed', 'indeterminate', 'canceled'];

const backwardsIn = (statuses: readonly string[]): readonly string[] => {
  if (statuses.includes('not found')) return ['accepted and then not found'];
  const ranks = statuses.map((status) => ORDER.indexOf(status.split(',', 1)[0] ?? ''));
  const back = ranks.findIndex((rank, index) => index > 0 && rank < (ranks[index - 1] ?? 0));
  return back < 0 ? [] : [`shown as ${statuses[back - 1]} and then as ${statuses[back]}`];
};
