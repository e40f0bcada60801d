import { isDeepStrictEqual } from 'node:util';
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import { pause } from '../../lib/pause.js';
import { faultCode, ifFound, isNotFound, isRefused } from './faults.js';
import type { ConsumerName, Names } from './names.js';
import { NatsTopologyMismatch } from './topology-mismatch.js';

const DUPLICATE_WINDOW_MS = 120_000;

/**
 * Creates what is missing, corrects what differs, and throws `NatsTopologyMismatch` where the server refuses. A message goes to another worker when
 * its holder was silent for `ackWaitMs`. An existing stream keeps its number of replicas.
 */
export const ensureTopology = async (manager: JetStreamManager, names: Names, ackWaitMs: number): Promise<void> => {
  await againWhenMissing(() => ensureStream(manager, names.workStream, workStream(names)));
  await againWhenMissing(() => ensureStream(manager, names.parkedStream, parkedStream(names)));
  await Promise.all(
    names.consumers.map((consumer) =>
      againWhenMissing(() =>
        ensureConsumer(manager, names.workStream, consumer.name, workConsumer(consumer, ackWaitMs)),
      ),
    ),
  );
};

const TRIES = 10;
const AGAIN_AFTER_MS = 100;

/**
 * Processes that start together all find a stream or consumer missing. The server accepts the creation by one process, so the other processes look
 * again.
 */
const againWhenMissing = async (ensure: () => Promise<void>): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ensure();
    } catch (error) {
      if (!(error instanceof NatsTopologyMismatch && error.wasMissing) || tries === TRIES) throw error;
      await pause(AGAIN_AFTER_MS);
    }
  }
};

/** One message for each stream and kind: a newer one replaces one that waits or is being handled. */
const NEWEST_OF_SUBJECT = {
  storage: StorageType.File,
  max_msgs_per_subject: 1,
  discard: DiscardPolicy.Old,
  // With a limit here, "discard old" would drop work silently; the server's own limit refuses new messages instead.
  max_msgs: -1,
  max_bytes: -1,
  max_age: 0,
  // The longest work item and parked record have less than half of that. A console or a scrape reads every parked record.
  max_msg_size: 16_384,
};

const workStream = (names: Names) => ({
  subjects: names.workSubjects,
  retention: RetentionPolicy.Workqueue,
  ...NEWEST_OF_SUBJECT,
  duplicate_window: nanos(DUPLICATE_WINDOW_MS),
});

const parkedStream = (names: Names) => ({
  subjects: names.parkedSubjects,
  retention: RetentionPolicy.Limits,
  ...NEWEST_OF_SUBJECT,
});

const workConsumer = ({ name, filter }: ConsumerName, ackWaitMs: number) => ({
  durable_name: name,
  filter_subject: filter,
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  replay_policy: ReplayPolicy.Instant,
  ack_wait: nanos(ackWaitMs),
  // A message past the server's own limit would remain undelivered, so the worker counts deliveries and parks.
  max_deliver: -1,
  // Messages in a pause count as pending, so any limit would let pauses stop new work.
  max_ack_pending: -1,
  ...WITHOUT_HINDRANCE,
});

/**
 * With other values the server refuses our requests for messages, or hands out messages without their work items. A server leaves out a field that has
 * this value, and its own limit on batches may give `max_batch` another one: then the update changes nothing.
 */
const WITHOUT_HINDRANCE = { headers_only: false, max_batch: 0, max_expires: 0, max_bytes: 0, backoff: [] as number[] };

const ensureStream = async (manager: JetStreamManager, name: string, wanted: Partial<StreamConfig>): Promise<void> => {
  const found = await ifFound(manager.streams.info(name));
  await correct(name, `stream ${name}`, found?.config, wanted, () =>
    found === undefined
      ? manager.streams.add({ ...wanted, name, num_replicas: 1 })
      : manager.streams.update(name, wanted),
  );
};

const ensureConsumer = async (
  manager: JetStreamManager,
  stream: string,
  name: string,
  wanted: ConsumerConfig,
): Promise<void> => {
  const there = await ifFound(manager.consumers.info(stream, name));
  const isBeyond = there !== undefined && isBeyondUpdate(there, wanted);
  if (isBeyond) await ifFound(manager.consumers.delete(stream, name));
  const found = isBeyond ? undefined : there;
  const has = found && { ...WITHOUT_HINDRANCE, ...found.config };
  await correct(stream, `consumer ${name}`, has, wanted, () =>
    found === undefined ? manager.consumers.add(stream, wanted) : manager.consumers.update(stream, name, wanted),
  );
};

/**
 * Whether a consumer has to be made again, after which the server delivers again what is not answered. The server allows no change of the first
 * fields. The messages that it gave up at a lower `max_deliver` are not delivered any more, although the field is put back. Fields that this list
 * lacks are no reason, because a newer server adds fields, and processes of two versions would delete the consumers of each other.
 */
const isBeyondUpdate = ({ config, paused }: ConsumerInfo, wanted: ConsumerConfig): boolean => {
  const groups = new Map<string, unknown>(Object.entries(config)).get('priority_groups');
  return (
    paused === true ||
    Boolean(config.deliver_subject) ||
    (Array.isArray(groups) && groups.length > 0) ||
    UNCHANGEABLE.some((field) => config[field] !== wanted[field])
  );
};

const UNCHANGEABLE = ['filter_subject', 'ack_policy', 'deliver_policy', 'replay_policy', 'max_deliver'] as const;

/** Runs `change` unless what was found is as it has to be; `found` is undefined for what does not exist yet. */
const correct = async (
  stream: string,
  what: string,
  found: object | undefined,
  wanted: object,
  change: () => Promise<unknown>,
): Promise<void> => {
  const has = new Map<string, unknown>(Object.entries(found ?? {}));
  const differing = Object.entries(wanted).flatMap(([field, value]) =>
    isDeepStrictEqual(has.get(field), value) ? [] : [field],
  );
  if (differing.length === 0) return;
  try {
    await change();
  } catch (error) {
    if (!isRefused(error)) throw error;
    const fields = found === undefined ? '' : `; it differs in ${differing.join(', ')}`;
    throw new NatsTopologyMismatch(
      `NATS refuses the ${what} that the work queue needs (${faultCode(error)})${fields}`,
      found === undefined ? placeOf(stream, error) : deletionOf(stream),
      // Another process may have just deleted it, to make it again.
      found === undefined || isNotFound(error),
    );
  }
};

const placeOf = (stream: string, error: unknown): string => {
  const code = faultCode(error);
  if (code === 'JetStream 10100' || code === 'JetStream 10099')
    return `delete the other consumer of ${stream} that takes the same messages (nats consumer ls ${stream} names it)`;
  return code === 'JetStream 10026'
    ? `delete consumers of ${stream} that are not the service's (nats consumer ls ${stream}), or give the NATS server's account room for more`
    : FREE_ITS_PLACE;
};

/** Another stream may have our subjects, and the server its limits. */
const FREE_ITS_PLACE =
  "delete the stream that has its subjects, or give the NATS server's account room and the right to make streams, and start again";

/** The sweeper puts work back from the log that is no longer in the queue. */
const deletionOf = (stream: string): string =>
  `delete the stream ${stream} while no process of the service runs, and start again: what waits is made again from the log`;
