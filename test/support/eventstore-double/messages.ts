import shared from '@eventstore/db-client/generated/shared_pb.js';
import type {
  AppendReq,
  BatchAppendReq,
  ReadResp as ReadResponse,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent, StoredEvent } from './log.js';

const { ReadResp } = streams;

/** 100 ns since year 1, as the server writes it; the adapter does not look at it. */
const CREATED = '638999999990000000';

export const eventMessage = (event: StoredEvent): ReadResponse => {
  const recorded = new ReadResp.ReadEvent.RecordedEvent();
  recorded.setId(uuid(event.id));
  recorded.setStreamIdentifier(streamIdentifier(event.stream));
  recorded.setStreamRevision(String(event.revision));
  recorded.setPreparePosition(String(event.position));
  recorded.setCommitPosition(String(event.position));
  recorded.setData(event.data);
  recorded.setCustomMetadata(event.metadata);
  const metadata = recorded.getMetadataMap();
  metadata.set('type', event.type);
  metadata.set('content-type', event.contentType);
  metadata.set('created', CREATED);
  const read = new ReadResp.ReadEvent();
  read.setEvent(recorded);
  read.setCommitPosition(String(event.position));
  return respond((response) => response.setEvent(read));
};

export const confirmation = (id: string): ReadResponse => {
  const message = new ReadResp.SubscriptionConfirmation();
  message.setSubscriptionId(id);
  return respond((response) => response.setConfirmation(message));
};

export const checkpoint = (position: bigint): ReadResponse => {
  const message = new ReadResp.Checkpoint();
  message.setCommitPosition(String(position));
  message.setPreparePosition(String(position));
  return respond((response) => response.setCheckpoint(message));
};

export const caughtUp = (): ReadResponse => respond((response) => response.setCaughtUp(new ReadResp.CaughtUp()));

export const streamNotFound = (stream: string): ReadResponse => {
  const message = new ReadResp.StreamNotFound();
  message.setStreamIdentifier(streamIdentifier(stream));
  return respond((response) => response.setStreamNotFound(message));
};

const respond = (fill: (response: ReadResponse) => unknown): ReadResponse => {
  const response = new ReadResp();
  fill(response);
  return response;
};

export const streamIdentifier = (name: string) => {
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(Uint8Array.from(Buffer.from(name)));
  return identifier;
};

/** Of a request that names a stream. */
export const streamNameOf = (holder: {
  getStreamIdentifier(): { getStreamName_asU8(): Uint8Array } | undefined;
}): string => Buffer.from(holder.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();

const uuid = (text: string) => {
  const id = new shared.UUID();
  id.setString(text);
  return id;
};

type Proposed = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;

export const proposedEvent = (message: Proposed): ProposedEvent => ({
  id: (message.getId()?.getString() ?? '').toLowerCase(),
  type: message.getMetadataMap().get('type') ?? '',
  contentType: message.getMetadataMap().get('content-type') ?? '',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});
