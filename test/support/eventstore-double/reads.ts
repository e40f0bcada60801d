import { randomUUID } from 'node:crypto';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import { type Faults, refusal, streamDeleted } from './faults.js';
import type { DoubleLog, StoredEvent } from './log.js';
import { checkpoint, confirmation, eventMessage, streamNameOf, streamNotFound } from './messages.js';
import { firstAt, matcherOf, noSuchPlace, startOf } from './places.js';
import { subscribe } from './subscriptions.js';

type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

const { ReadReq: Req } = streams;
const BACKWARDS = Req.Options.ReadDirection.BACKWARDS;

/** The one call by which streams and the whole log are read and followed. */
export const answerRead = (call: ReadCall, log: DoubleLog, faults: Faults): void => {
  const options = call.request.getOptions();
  if (options === undefined) {
    refuse(call, refusal(status.INVALID_ARGUMENT, 'no options'));
    return;
  }
  const isSubscription = options.hasSubscription();
  const fault = isSubscription ? faults.subscriptions : faults.reads;
  const begin = (): void => {
    if (isSubscription) subscribe(call, options, log, faults);
    else if (options.hasStream()) readStream(call, options, log, fault?.kind === 'drop' ? fault.after : undefined);
    else readAll(call, options, log, isDropped(faults) ? 0 : fault?.kind === 'drop' ? fault.after : undefined);
  };
  switch (fault?.kind) {
    case 'silent':
      return;
    case 'refuse':
      refuse(call, fault.error);
      return;
    case 'slow':
      setTimeout(begin, fault.ms);
      return;
    case 'searching':
      search(call, options.getAll()?.getPosition()?.getCommitPosition() ?? '0', fault, begin);
      return;
    default:
      begin();
  }
};

const search = (
  call: ReadCall,
  from: string,
  { checkpoints, everyMs }: { checkpoints: number; everyMs: number },
  then: () => void,
): void => {
  let sent = 0;
  call.write(confirmation(randomUUID()));
  const timer = setInterval(() => {
    sent += 1;
    call.write(checkpoint(BigInt(from) + BigInt(sent)));
    if (sent < checkpoints) return;
    clearInterval(timer);
    then();
  }, everyMs);
  call.on('cancelled', () => clearInterval(timer));
};

const refuse = (call: ReadCall, error: Error): void => {
  call.emit('error', error);
};

const readStream = (call: ReadCall, options: ReadReq.Options, log: DoubleLog, dropAfter: number | undefined): void => {
  const wanted = options.getStream();
  if (wanted === undefined) return;
  const stream = streamNameOf(wanted);
  const content = log.read(stream);
  if (content.kind === 'deleted') {
    refuse(call, streamDeleted(stream));
    return;
  }
  if (content.kind === 'absent') {
    call.write(streamNotFound(stream));
    call.end();
    return;
  }
  const back = options.getReadDirection() === BACKWARDS;
  const ordered = back ? content.events.toReversed() : content.events;
  const from = wanted.hasRevision() ? BigInt(wanted.getRevision()) : undefined;
  const fits = ({ revision }: StoredEvent): boolean =>
    from === undefined || (back ? revision <= from : revision >= from);
  send(call, firstOf(ordered, fits, options.getCount()), options.getCount(), dropAfter);
};

/** Every so-many-th read of the whole log, as a test wants it. */
const isDropped = (faults: Faults): boolean => {
  faults.wholeLogReads = (faults.wholeLogReads ?? 0) + 1;
  return faults.dropEvery !== undefined && faults.wholeLogReads % faults.dropEvery === 0;
};

const readAll = (call: ReadCall, options: ReadReq.Options, log: DoubleLog, dropAfter: number | undefined): void => {
  const place = startOf(options, log);
  if (place === 'invalid') {
    refuse(call, noSuchPlace());
    return;
  }
  const back = options.getReadDirection() === BACKWARDS;
  const fits = matcherOf(options);
  const all = log.all();
  const start = place === 'start' ? 0 : place === 'end' ? all.length : firstAt(all, place);
  const ordered = back ? all.slice(0, start).reverse() : all.slice(start);
  send(call, firstOf(ordered, fits, options.getCount()), options.getCount(), dropAfter);
};

const firstOf = (
  events: readonly StoredEvent[],
  fits: (event: StoredEvent) => boolean,
  count: string,
): readonly StoredEvent[] => {
  const found: StoredEvent[] = [];
  for (const event of events) {
    if (found.length >= Number(count)) break;
    if (fits(event)) found.push(event);
  }
  return found;
};

/** A read of nothing never ends on the server. */
const send = (call: ReadCall, events: readonly StoredEvent[], count: string, dropAfter?: number): void => {
  const limit = Number(count);
  if (limit === 0) return;
  const sent = events.slice(0, Math.min(limit, dropAfter ?? limit));
  for (const event of sent) call.write(eventMessage(event));
  if (dropAfter === undefined) call.end();
  else refuse(call, refusal(status.UNAVAILABLE, 'Connection dropped'));
};
