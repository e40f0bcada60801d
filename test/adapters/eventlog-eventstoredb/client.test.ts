import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { jsonEvent, UnavailableError } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Connection, openConnection } from '../../../src/adapters/eventlog-eventstoredb/client.js';
import { createEventStoreEventLog } from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { type EventStoreDouble, startEventStoreDouble } from '../../support/eventstore-double/double.js';

type Channel = { close(): void };

/** What the failure of one call of the client does to other calls. */
const internalsOf = ({ client }: Connection) =>
  client as unknown as {
    getChannel(): Promise<Channel>;
    handleError(failed: { getChannel(): Channel }, error: Error): Promise<void>;
  };

describe('the client of EventStoreDB', () => {
  let double: EventStoreDouble;
  beforeEach(async () => {
    double = await startEventStoreDouble();
  });
  afterEach(() => double.close());

  it('tells the caller of an append that its channel was closed, where it would end the process', async () => {
    const connection = openConnection(double.url);
    const { client, credentials } = connection;
    const append = () => client.appendToStream('s', [jsonEvent({ type: 'T', data: {} })], { credentials });
    await append();
    (await internalsOf(connection).getChannel()).close();
    await expect(append()).rejects.toThrow('the channel was closed');
    await connection.close();
  });

  it('handles a failure while no node is found, where it would end the process', async () => {
    const connection = openConnection('esdb://127.0.0.1:1,127.0.0.1:2?tls=false&maxDiscoverAttempts=1');
    const internals = internalsOf(connection);
    const searching = internals.getChannel();
    const failed = { getChannel: () => ({ close: () => undefined }) };
    const error = Object.assign(new Error('Connection dropped'), { code: 14, details: '', metadata: new Map() });
    await expect(internals.handleError(failed, new UnavailableError(error as never))).resolves.toBeUndefined();
    await expect(searching).rejects.toThrow('Failed to discover');
    await connection.close();
  });

  it('looks for the leader again when the leader takes connections and says nothing, as a node that hangs', {
    timeout: 120_000,
  }, async () => {
    const hung = createServer().listen(0, '127.0.0.1');
    await once(hung, 'listening');
    const leaders = [(hung.address() as AddressInfo).port];
    const node = await startEventStoreDouble({ cluster: () => leaders });
    // Two addresses, so that the client asks for the leader.
    const log = createEventStoreEventLog({
      url: `${node.url.replace('?', `,localhost:${node.port}?`)}`,
      readTimeoutMs: 500,
    });
    await expect(log.lastEvent('s')).rejects.toThrow('did not answer a read in time');
    leaders.splice(0, 1, node.port);
    await expect.poll(() => log.lastEvent('s').catch(({ message }: Error) => message)).toBeNull();
    await log.close();
    await node.close();
    hung.close();
  });
});
