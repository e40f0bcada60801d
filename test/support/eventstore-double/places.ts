import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import { refusal } from './faults.js';
import type { DoubleLog, StoredEvent } from './log.js';

export const noSuchPlace = (): Error => refusal(status.UNKNOWN, 'Unexpected ReadAllResult: Error');

export const startOf = (options: ReadReq.Options, log: DoubleLog): 'start' | 'end' | 'invalid' | bigint => {
  const all = options.getAll();
  if (all === undefined || all.hasStart()) return 'start';
  if (all.hasEnd()) return 'end';
  const position = BigInt(all.getPosition()?.getCommitPosition() ?? '0');
  return log.isPosition(position) ? position : 'invalid';
};

export const matcherOf = (options: ReadReq.Options): ((event: StoredEvent) => boolean) => {
  const types = options.getFilter()?.getEventType()?.getPrefixList();
  if (types !== undefined) return ({ type }) => types.some((prefix) => type.startsWith(prefix));
  const prefixes = options.getFilter()?.getStreamIdentifier()?.getPrefixList();
  return ({ stream }) => prefixes === undefined || prefixes.some((prefix) => stream.startsWith(prefix));
};

/** Index of the first event at or after the position. Positions only grow, so it is found by halving, in a log of any length. */
export const firstAt = (all: readonly StoredEvent[], place: bigint): number => {
  let [from, to] = [0, all.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((all[middle]?.position ?? place) < place) from = middle + 1;
    else to = middle;
  }
  return from;
};
