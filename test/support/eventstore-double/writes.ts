import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import type {
  AppendReq,
  AppendResp as AppendResponse,
  BatchAppendReq,
  BatchAppendResp as BatchAppendResponse,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerDuplexStream, ServerReadableStream, sendUnaryData } from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import { appendTooLarge, type Faults, streamDeleted } from './faults.js';
import type { DoubleLog, ExpectedRevision, ProposedEvent, Written } from './log.js';
import { proposedEvent, streamIdentifier, streamNameOf } from './messages.js';

const { AppendResp, BatchAppendResp } = streams;

/** The server's default; a setting of the server changes it. */
const MAX_APPEND_BYTES = 1024 * 1024;

/** One append per call: what the client does when it is given credentials. */
export const answerAppend = (
  call: ServerReadableStream<AppendReq, AppendResponse>,
  reply: sendUnaryData<AppendResponse>,
  log: DoubleLog,
  faults: Faults,
): void => {
  let stream = '';
  let expected: ExpectedRevision = 'any';
  const events: ProposedEvent[] = [];
  call.on('data', (message: AppendReq) => {
    const options = message.getOptions();
    const proposed = message.getProposedMessage();
    if (options !== undefined) {
      stream = streamNameOf(options);
      expected = expectedOf(options, options.hasRevision() ? options.getRevision() : undefined);
    }
    if (proposed !== undefined) events.push(proposedEvent(proposed));
  });
  call.on('end', () => {
    const fault = faults.appends;
    const write = (): void => {
      const isTooLarge = sizeOf(events) > MAX_APPEND_BYTES;
      const written = isTooLarge ? undefined : log.append(stream, expected, events);
      if (fault?.kind === 'silent_after_storing') return;
      if (written === undefined) reply(appendTooLarge(MAX_APPEND_BYTES));
      else answer(written);
    };
    const answer = (written: Written): void => {
      if (written.kind === 'deleted') reply(streamDeleted(stream));
      else if (written.kind === 'unconfirmed') void written.shown.then(answer);
      else reply(null, appendResponse(written));
    };
    if (fault?.kind === 'refuse') reply(fault.error);
    else if (fault?.kind === 'conflict') reply(null, appendResponse(fault));
    else if (fault?.kind === 'slow') setTimeout(write, fault.ms);
    else if (fault?.kind !== 'silent') setImmediate(() => call.cancelled || write());
  });
  call.on('error', () => undefined);
};

const appendResponse = (written: Exclude<Written, { kind: 'deleted' | 'unconfirmed' }>): AppendResponse => {
  const response = new AppendResp();
  if (written.kind === 'conflict') {
    const conflict = new AppendResp.WrongExpectedVersion();
    conflict.setExpectedAny(new shared.Empty());
    if (written.current === null) conflict.setCurrentNoStream(new shared.Empty());
    else conflict.setCurrentRevision(String(written.current));
    response.setWrongExpectedVersion(conflict);
    return response;
  }
  const success = new AppendResp.Success();
  success.setCurrentRevision(String(written.revision));
  const position = new AppendResp.Position();
  position.setCommitPosition(String(written.position));
  position.setPreparePosition(String(written.position));
  success.setPosition(position);
  response.setSuccess(success);
  return response;
};

/** Many appends over one call: what the client does without credentials; the adapter never does. */
export const answerBatchAppend = (
  call: ServerDuplexStream<BatchAppendReq, BatchAppendResponse>,
  log: DoubleLog,
): void => {
  const open = new Map<string, { stream: string; expected: ExpectedRevision; events: ProposedEvent[] }>();
  call.on('data', (request: BatchAppendReq) => {
    const id = request.getCorrelationId()?.getString() ?? '';
    const options = request.getOptions();
    const append = open.get(id) ?? {
      stream: options === undefined ? '' : streamNameOf(options),
      expected:
        options === undefined
          ? 'any'
          : expectedOf(options, options.hasStreamPosition() ? options.getStreamPosition() : undefined),
      events: [],
    };
    append.events.push(...request.getProposedMessagesList().map(proposedEvent));
    open.set(id, append);
    if (!request.getIsFinal()) return;
    open.delete(id);
    const answer = (written: Written): void => {
      if (written.kind === 'unconfirmed') return void written.shown.then(answer);
      const response = new BatchAppendResp();
      response.setCorrelationId(request.getCorrelationId());
      response.setStreamIdentifier(streamIdentifier(append.stream));
      fillBatchResponse(response, written);
      call.write(response);
    };
    answer(log.append(append.stream, append.expected, append.events));
  });
  call.on('end', () => call.end());
  call.on('error', () => undefined);
};

const fillBatchResponse = (response: BatchAppendResponse, written: Exclude<Written, { kind: 'unconfirmed' }>): void => {
  if (written.kind === 'ok') {
    const success = new BatchAppendResp.Success();
    success.setCurrentRevision(String(written.revision));
    response.setSuccess(success);
    return;
  }
  const error = new statuses.Status();
  const details = new any.Any();
  if (written.kind === 'deleted') {
    details.pack(new shared.StreamDeleted().serializeBinary(), 'event_store.client.StreamDeleted');
  } else {
    const conflict = new shared.WrongExpectedVersion();
    if (written.current === null) conflict.setCurrentNoStream(new shared.Empty() as never);
    else conflict.setCurrentStreamRevision(String(written.current));
    details.pack(conflict.serializeBinary(), 'event_store.client.WrongExpectedVersion');
  }
  error.setDetails(details);
  response.setError(error);
};

type ExpectedOptions = { hasNoStream(): boolean; hasStreamExists(): boolean };

const expectedOf = (options: ExpectedOptions, revision: string | undefined): ExpectedRevision => {
  if (revision !== undefined) return BigInt(revision);
  if (options.hasNoStream()) return 'no_stream';
  return options.hasStreamExists() ? 'stream_exists' : 'any';
};

const sizeOf = (events: readonly ProposedEvent[]): number =>
  events.reduce((sum, { type, data, metadata }) => sum + type.length * 2 + data.length + metadata.length, 0);
