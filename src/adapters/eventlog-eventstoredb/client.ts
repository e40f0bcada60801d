import { EventStoreDBClient, UnavailableError } from '@eventstore/db-client';
import { settlesWithin } from '../../lib/pause.js';
import { AddressInvalid } from '../../ports/engine-address.js';
import { credentialsOf, type EventStoreCredentials } from './address.js';
import { NothingSent } from './faults.js';

export type Connection = {
  client: EventStoreDBClient;
  credentials: EventStoreCredentials;
  /** How often a connection was made or lost. The server behind the next one may have another state of the log. */
  losses(): number;
  /** Whether a server was ever reached. */
  wasReady(): boolean;
  close(): Promise<void>;
};

/** The part of a gRPC client and channel that this file uses. */
type Channel = {
  getConnectivityState(tryToConnect: boolean): number;
  watchConnectivityState(from: number, deadline: number, changed: () => void): void;
  close(): void;
};
type GrpcClient = { getChannel(): Channel };

/** Protected members of the client (6.2.1), which looks them up on itself at each call, so that they can be replaced. */
type Internals = {
  execute<T>(client: unknown, name: string, action: (client: GrpcClient) => Promise<T>): Promise<T>;
  handleError(client: GrpcClient, error: Error): Promise<void>;
  getChannel(): Promise<Channel>;
};

/** gRPC's connectivity states of a channel without a connection yet, with one, and of a closed one. */
const CONNECTING = 1;
const READY = 2;
const SHUT_DOWN = 4;

const CLOSE_MS = 1_000;

/**
 * Milliseconds that a connection may take. The operating system accepts it for a node that hangs, and gRPC then waits for the first word of that node
 * without limit, also when another node leads by now.
 */
const CONNECT_MS = 10_000;

/**
 * Opens the client and corrects two faults of the library that end the process by an unhandled rejection. The first: an append begins on a channel
 * that the failure of another call has just closed. The second: a failure is handled while the cluster cannot be found. `close` also closes the
 * channel, because `dispose` leaves the channel open. Throws `AddressInvalid`.
 */
export const openConnection = (url: string): Connection => {
  const credentials = credentialsOf(url);
  const client = parsed(url);
  const internals = client as unknown as Internals;
  const { execute, handleError, getChannel } = internals;
  const channels = new Set<Channel>();
  let losses = 0;
  let wasReady = false;
  /** The client then asks the nodes again which of them leads. */
  const giveUp = (channel: Channel): void => {
    void internals.handleError({ getChannel: () => channel }, new UnavailableError());
  };
  /** The channel connects again by itself, so that a call may never see that its connection was lost. */
  const watch = (channel: Channel): void => {
    const state = channel.getConnectivityState(false);
    if (state === SHUT_DOWN) return;
    wasReady ||= state === READY;
    const tooLong = state === CONNECTING ? setTimeout(() => giveUp(channel), CONNECT_MS).unref() : undefined;
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => {
      clearTimeout(tooLong);
      if (state === READY) losses += 1;
      watch(channel);
    });
  };
  internals.getChannel = async () => {
    const channel = await getChannel();
    for (const other of channels) {
      if (other.getConnectivityState(false) === SHUT_DOWN) channels.delete(other);
    }
    if (!channels.has(channel)) {
      losses += 1;
      watch(channel);
    }
    channels.add(channel);
    return channel;
  };
  internals.handleError = (failed, error) => handleError(failed, error).catch(() => undefined);
  internals.execute = (grpcClient, name, action) =>
    execute(grpcClient, name, (ready) => {
      // Checked in the turn of the event loop in which the action begins, so that nothing can close the channel in between.
      if (ready.getChannel().getConnectivityState(false) === SHUT_DOWN) throw new NothingSent('the channel was closed');
      return action(ready);
    });
  return {
    client,
    credentials,
    losses: () => losses,
    wasReady: () => wasReady,
    close: async () => {
      // `dispose` waits for the end of each call, which a silent server can hold back.
      await settlesWithin(CLOSE_MS, client.dispose()).catch(() => false);
      for (const channel of channels) channel.close();
    },
  };
};

const parsed = (url: string): EventStoreDBClient => {
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    // The client's message quotes the address with its password, so it is not passed on.
    const why =
      error instanceof Error && error.message.includes('certificate') ? 'a certificate file is not there' : '';
    throw new AddressInvalid(why === '' ? 'the address cannot be read' : why);
  }
};

/**
 * Options of every call except the append. The leader answers, because followers lag and a read must show everything that any process knows to be
 * stored (ADR 11).
 */
export const callOptions = ({ credentials }: Pick<Connection, 'credentials'>) => ({
  credentials,
  requiresLeader: true,
});
