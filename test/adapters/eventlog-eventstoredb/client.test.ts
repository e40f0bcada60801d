import { jsonEvent, UnavailableError } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Connection, openConnection } from '../../../src/adapters/eventlog-eventstoredb/client.js';
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
});
