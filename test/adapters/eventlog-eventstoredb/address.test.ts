import { describe, expect, it } from 'vitest';
import {
  credentialsOf,
  eventStoreTransport,
  tlsServersOf,
} from '../../../src/adapters/eventlog-eventstoredb/address.js';
import { createEventStoreEventLog } from '../../../src/adapters/eventlog-eventstoredb/event-log.js';
import { AddressInvalid } from '../../../src/ports/engine-address.js';

describe('the address of an EventStoreDB', () => {
  it.each([
    'esdb://nfse:open%3Asesame@log.example:2113?tls=true',
    'esdb+discover://nfse:open%3Asesame@log.example:2113',
    'esdb://nfse:open%3Asesame@a:2113,b:2113,c:2113?tls=true&tlsCAFile=%2Fetc%2Fca.pem',
  ])('gives the user of %s', (url) => {
    expect(credentialsOf(url)).toEqual({ username: 'nfse', password: 'open:sesame' });
  });

  it.each(['tlsCAFile', 'tls_ca_file', 'TLS-CA-FILE'])('gives the servers and the CA that %s names', (name) => {
    const at = (address: string) => tlsServersOf(`esdb://nfse:se?same@${address}?tls=true&${name}=%2Fetc%2Fa=b.pem`);
    const known = { hasTls: true, caFile: '/etc/a=b.pem' };
    expect(at('log.example')).toEqual({ ...known, servers: [{ host: 'log.example', port: '2113' }] });
    expect(at('a:2114,b:2115/').servers).toEqual([
      { host: 'a', port: '2114' },
      { host: 'b', port: '2115' },
    ]);
  });

  it.each([
    ['a port that is no number', 'esdb://nfse:sesame@a:http?tlsCAFile=ca.pem', 'a name with a port'],
    ['no CA', 'esdb://nfse:sesame@a:2113?tls=true', 'over TLS only'],
    ['no TLS', 'esdb://nfse:sesame@a:2113?tls=false&tlsCAFile=ca.pem', 'over TLS only'],
  ])('names no server with TLS for %s', (_what, url, message) => {
    expect(() => tlsServersOf(url)).toThrow(message);
  });

  it('tells its hosts and its TLS, whatever its password holds', () => {
    const hosts = ['a', 'b'];
    expect(eventStoreTransport('esdb://nfse:se?s/ame@a:2113,b:2113')).toEqual({ hosts, tls: 'verified' });
    expect(eventStoreTransport('esdb://a,b:2113/?tls=false')).toEqual({ hosts, tls: 'none' });
  });

  it('needs no user without TLS', () => {
    expect(credentialsOf('esdb://localhost:2113?tls=false').username).toBe('nobody');
  });

  it.each([
    ['another protocol', 'http://nfse:sesame@log.example:2113'],
    ['TLS and no user', 'esdb://log.example:2113?tls=true'],
    ['TLS, which is the default, and no user', 'esdb://log.example:2113'],
    ['a setting that nobody knows', 'esdb://nfse:sesame@log.example:2113?tsl=false'],
    ['a value of tls that the client does not know', 'esdb://nfse:sesame@log.example:2113?tls=True'],
    ['certificates that are not to be checked', 'esdb://nfse:sesame@log.example:2113?tls=true&tlsVerifyCert=false'],
    ['a user who is not percent-encoded', 'esdb://nfse:%ses@me@log.example:2113?tls=true'],
    ['a password that is not percent-encoded', 'esdb://nfse:%sesame@log.example:2113?tls=true'],
    ['a port that is no number', 'esdb://nfse:sesame@log.example:http?tls=true'],
    ['a certificate that is not there', 'esdb://nfse:sesame@log.example:2113?tls=true&tlsCAFile=/nowhere/ca.pem'],
  ])('refuses %s, and never shows the password', (_what, url) => {
    const opening = (): unknown => createEventStoreEventLog({ url });
    expect(opening).toThrow(AddressInvalid);
    expect(opening).not.toThrow(/sesame|ses@me/);
  });
});
