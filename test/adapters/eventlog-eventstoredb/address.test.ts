import { describe, expect, it } from 'vitest';
import {
  credentialsOf,
  eventStoreTransport,
  tlsServerOf,
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

  it.each(['tlsCAFile', 'tls_ca_file', 'TLS-CA-FILE'])('gives the server and the CA that %s names', (name) => {
    const server = { host: 'log.example', caFile: '/etc/a=b.pem' };
    const at = (address: string) => `esdb://nfse:se?same@${address}?tls=true&${name}=%2Fetc%2Fa=b.pem`;
    expect(tlsServerOf(at('log.example'))).toEqual({ ...server, port: '2113' });
    expect(tlsServerOf(at('log.example:2114/'))).toEqual({ ...server, port: '2114' });
  });

  it.each([
    ['two servers', 'esdb://nfse:sesame@a:2113,b:2113?tlsCAFile=ca.pem', 'one server'],
    ['a port that is no number', 'esdb://nfse:sesame@a:http?tlsCAFile=ca.pem', 'one server'],
    ['a cluster', 'esdb+discover://nfse:sesame@a:2113?tlsCAFile=ca.pem', 'over TLS only'],
    ['no CA', 'esdb://nfse:sesame@a:2113?tls=true', 'over TLS only'],
    ['no TLS', 'esdb://nfse:sesame@a:2113?tls=false&tlsCAFile=ca.pem', 'over TLS only'],
  ])('names no server with TLS for %s', (_what, url, message) => {
    expect(() => tlsServerOf(url)).toThrow(message);
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
