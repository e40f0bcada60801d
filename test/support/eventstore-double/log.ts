/** The double's log and its rules. README.md lists each rule with its source. */
export type StoredEvent = {
  stream: string;
  revision: bigint;
  position: bigint;
  id: string;
  type: string;
  contentType: string;
  data: Uint8Array;
  metadata: Uint8Array;
};

export type ProposedEvent = Omit<StoredEvent, 'stream' | 'revision' | 'position'>;

export type ExpectedRevision = 'any' | 'no_stream' | 'stream_exists' | bigint;

export type Written =
  | { kind: 'ok'; revision: bigint; position: bigint }
  | { kind: 'conflict'; current: bigint | null }
  | { kind: 'deleted' }
  /** The leader has written the events and shows them later; `shown` may never resolve. */
  | { kind: 'unconfirmed'; shown: Promise<Written> };

type StreamContent = { kind: 'found'; events: readonly StoredEvent[] } | { kind: 'absent' } | { kind: 'deleted' };

export type DoubleLog = {
  append(stream: string, expected: ExpectedRevision, events: readonly ProposedEvent[]): Written;
  read(stream: string): StreamContent;
  /** In order; scavenged ones are gone. */
  all(): readonly StoredEvent[];
  /** Whether a record ever began there: a read may start at no other place. */
  isPosition(position: bigint): boolean;
  remove(stream: string, forGood: boolean): Written;
  /** Frees what is truncated, at most up to a position: chunk by chunk, as the server does. */
  scavenge(upTo?: bigint): void;
  onAppend(listener: (event: StoredEvent) => void): () => void;
};

const LAST_REVISION = 2n ** 63n - 1n;
const NOBODY = new Uint8Array();

export const createDoubleLog = (): DoubleLog => {
  let all: StoredEvent[] = [];
  const streams = new Map<string, StoredEvent[]>();
  const lastRevisions = new Map<string, bigint>();
  const positions = new Set<bigint>();
  const removed = new Set<string>();
  const listeners = new Set<(event: StoredEvent) => void>();
  let end = 548n;

  const store = (stream: string, revision: bigint, event: ProposedEvent): StoredEvent => {
    const stored = { ...event, stream, revision, position: end };
    positions.add(end);
    end += BigInt(90 + stream.length + event.type.length + event.data.length + event.metadata.length);
    all.push(stored);
    const standing = streams.get(stream);
    if (standing === undefined) streams.set(stream, [stored]);
    else standing.push(stored);
    lastRevisions.set(stream, revision);
    for (const listener of [...listeners]) listener(stored);
    return stored;
  };

  const lastOf = (stream: string): bigint => lastRevisions.get(stream) ?? -1n;
  const truncateBefore = (stream: string): bigint => {
    const metadata = streams.get(`$$${stream}`)?.at(-1);
    if (metadata === undefined) return 0n;
    const { $tb } = JSON.parse(Buffer.from(metadata.data).toString() || '{}');
    return typeof $tb === 'number' ? BigInt($tb) : 0n;
  };
  const isVisible = ({ stream, revision }: StoredEvent): boolean =>
    stream.startsWith('$$') ? revision === lastOf(stream) : revision >= truncateBefore(stream);
  const visible = (stream: string): readonly StoredEvent[] => {
    const standing = streams.get(stream) ?? [];
    return stream.startsWith('$$') || truncateBefore(stream) > 0n ? standing.filter(isVisible) : standing.slice();
  };
  const isSoftDeleted = (stream: string): boolean => truncateBefore(stream) >= LAST_REVISION;

  const append: DoubleLog['append'] = (stream, expected, events) => {
    if (removed.has(stream)) return { kind: 'deleted' };
    const last = lastOf(stream);
    const first = typeof expected === 'bigint' ? expected + 1n : expected === 'no_stream' ? 0n : last + 1n;
    const standing = streams.get(stream) ?? [];
    const replayed =
      first > last
        ? []
        : events.map(({ id }, n) => standing.find((e) => e.revision === first + BigInt(n) && e.id === id));
    const lastReplayed = replayed.at(-1);
    if (first <= last && lastReplayed !== undefined && !replayed.includes(undefined)) {
      return { kind: 'ok', revision: lastReplayed.revision, position: lastReplayed.position };
    }
    const revived = expected === 'no_stream' && isSoftDeleted(stream);
    const current = last < 0n ? null : last;
    if (!revived && (first !== last + 1n || (expected === 'stream_exists' && last < 0n)))
      return { kind: 'conflict', current };
    const start = last + 1n;
    if (revived) {
      const data = Buffer.from(JSON.stringify({ $tb: Number(start) }));
      store(`$$${stream}`, lastOf(`$$${stream}`) + 1n, metadataEvent(data));
    }
    const stored = events.map((event, n) => store(stream, start + BigInt(n), event));
    return { kind: 'ok', revision: start + BigInt(events.length - 1), position: stored.at(-1)?.position ?? end };
  };

  store('$$$scavenges', 0n, metadataEvent(Buffer.from('{}')));
  return {
    append,
    read: (stream) => {
      if (removed.has(stream)) return { kind: 'deleted' };
      if (lastOf(stream) < 0n || isSoftDeleted(stream)) return { kind: 'absent' };
      return { kind: 'found', events: visible(stream) };
    },
    all: () => all,
    isPosition: (position) => positions.has(position),
    remove: (stream, forGood) => {
      if (forGood) {
        removed.add(stream);
        const { position } = store(stream, LAST_REVISION, { ...metadataEvent(NOBODY), type: '$streamDeleted' });
        return { kind: 'ok', revision: LAST_REVISION, position };
      }
      const data = Buffer.from(JSON.stringify({ $tb: Number(LAST_REVISION) }));
      const { position } = store(`$$${stream}`, lastOf(`$$${stream}`) + 1n, metadataEvent(data));
      return { kind: 'ok', revision: lastOf(stream), position };
    },
    scavenge: (upTo = end) => {
      const stays = (event: StoredEvent): boolean =>
        event.position > upTo || event.revision === lastOf(event.stream) || isVisible(event);
      all = all.filter(stays);
      for (const [stream, events] of streams) streams.set(stream, events.filter(stays));
    },
    onAppend: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

const metadataEvent = (data: Uint8Array): ProposedEvent => ({
  id: crypto.randomUUID(),
  type: '$metadata',
  contentType: 'application/json',
  data,
  metadata: NOBODY,
});
