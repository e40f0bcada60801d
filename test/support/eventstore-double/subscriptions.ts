import { randomUUID } from 'node:crypto';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { type Faults, tooSlow } from './faults.js';
import type { DoubleLog, StoredEvent } from './log.js';
import { caughtUp, checkpoint, confirmation, eventMessage } from './messages.js';
import { firstAt, matcherOf, noSuchPlace, startOf } from './places.js';

type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Of live messages that wait for a taker: with one more the server gives the subscription up. */
const LIVE_BUFFER = 32;

/**
 * Catch-up at the pace of the taker, then live. From the moment it goes live, what is appended waits in a small buffer until the
 * taker has everything before; a taker who is behind by more is dropped, as the server does.
 */
export const subscribe = (call: ReadCall, options: ReadReq.Options, log: DoubleLog, faults: Faults): void => {
  const place = startOf(options, log);
  if (place === 'invalid') {
    call.emit('error', noSuchPlace());
    return;
  }
  const fits = matcherOf(options);
  const interval = windowOf(options);
  // The first event at or after the position counts as the handled one, even if the handled event has been scavenged.
  const handled = typeof place === 'bigint' ? log.all()[firstAt(log.all(), place)]?.position : undefined;
  let considered = 0;
  const messagesOf = (event: StoredEvent): readonly ReadResp[] => {
    considered += 1;
    return [
      ...(fits(event) ? [eventMessage(event)] : []),
      ...(considered % interval === 0 ? [checkpoint(event.position)] : []),
    ];
  };
  const live: ReadResp[] = [];
  let state: 'catching up' | 'transitioning to live' | 'live' = 'catching up';
  let over = false;
  let leave = (): void => undefined;
  let goOn = (): void => undefined;
  const end = (): void => {
    if (!over) faults.openSubscriptions = (faults.openSubscriptions ?? 1) - 1;
    over = true;
    leave();
    goOn();
  };
  faults.openSubscriptions = (faults.openSubscriptions ?? 0) + 1;
  call.on('cancelled', end);
  call.on('close', end);
  call.on('drain', () => goOn());

  const send = async (message: ReadResp): Promise<void> => {
    if (over || call.write(message)) return;
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
  };
  const pump = async (): Promise<void> => {
    for (let next = live[0]; next !== undefined && !over; next = live[0]) {
      await send(next);
      live.shift();
    }
  };
  const drop = (): void => {
    end();
    call.emit('error', tooSlow(state === 'live' ? 'live' : 'transitioning to live'));
  };
  const appeared = (event: StoredEvent): void => {
    if (faults.muted === true || over) return;
    const isIdle = live.length === 0 && state === 'live';
    live.push(...messagesOf(event));
    if (live.length > (faults.liveBuffer ?? LIVE_BUFFER)) drop();
    else if (isIdle) void pump();
  };
  const run = async (): Promise<void> => {
    await send(confirmation(randomUUID()));
    let last = handled;
    for (
      let next = firstBehind(log, last);
      place !== 'end' && next !== undefined && !over;
      next = firstBehind(log, last)
    ) {
      last = next.position;
      for (const message of messagesOf(next)) await send(message);
    }
    if (over) return;
    state = 'transitioning to live';
    leave = log.onAppend(appeared);
    if (faults.onGoingLive?.() === 'drop') drop();
    if (over) return;
    await send(caughtUp());
    state = 'live';
    await pump();
  };
  void run();
};

const firstBehind = (log: DoubleLog, place: bigint | undefined): StoredEvent | undefined =>
  log.all()[place === undefined ? 0 : firstAt(log.all(), place + 1n)];

const windowOf = (options: ReadReq.Options): number => {
  const filter = options.getFilter();
  return (filter?.hasMax() ? filter.getMax() : 32) * (filter?.getCheckpointintervalmultiplier() ?? 1);
};
