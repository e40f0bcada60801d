import { findStream } from '../../app/support/find-stream.js';
import { shortActor, storyOf, type TimelineEntry } from '../../app/support/timeline.js';
import { parseInvoiceStream } from '../../domain/shared/ids.js';
import { type Command, done, refused } from '../command.js';
import type { Session } from '../session.js';
import { readWhole } from './events.js';

const timeline: Command = {
  name: 'invoice timeline',
  positionals: ['ID'],
  summary: 'the story of one invoice: what, when, who, evidence',
  options: {},
  changes: false,
  run: async ({ positionals: [id = ''], session }) => {
    const story = await timelineOf(id, await session());
    return story === undefined ? refused(`no invoice ${id}`) : done(renderTimeline(story), { id, timeline: story });
  },
};

export const invoiceCommands: readonly Command[] = [timeline];

/** Undefined when no company has an invoice of this id. */
export const timelineOf = async (id: string, session: Session): Promise<readonly TimelineEntry[] | undefined> => {
  const stream = await findStream(id, session);
  const address = stream === undefined ? undefined : parseInvoiceStream(stream);
  if (stream === undefined || address === undefined) return undefined;
  return storyOf(await readWhole(stream, session));
};

export const renderTimeline = (story: readonly TimelineEntry[]): string =>
  story
    .map(({ at, event, who, evidence }) =>
      `${at}  ${event.padEnd(27)} ${shortActor(who).padEnd(20)} ${evidence}`.trimEnd(),
    )
    .join('\n');
