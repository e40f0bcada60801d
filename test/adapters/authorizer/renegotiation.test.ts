import { afterEach, beforeEach, expect, it } from 'vitest';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { accessKey, issued, noteAround } from '../../support/fixture/sefin.js';
import {
  type ClientHarness,
  caller,
  errors,
  inAMinute,
  now,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { httpAnswer, type OpensslServer, startOpensslServer, type Turn } from '../../support/harness/openssl-server.js';
import { describeWith } from '../../support/needs.js';

describeWith('openssl', 'a server of openssl that asks for the certificate after it has read the request', () => {
  let harness: ClientHarness;
  let server: OpensslServer;
  beforeEach(async () => {
    harness = await openClientHarness();
  });
  afterEach(async () => {
    await harness.close();
    await server.stop();
  });

  const start = async (onRequest: Turn, strict = false, clientAuthority = harness.authority) => {
    server = await startOpensslServer({ server: harness.serverIdentity, clientAuthority }, onRequest, strict);
    return harness.clientOf({ address: server.address });
  };

  it('gets it by renegotiation, and its answer is read', async () => {
    const client = await start(async (own, heard) => {
      expect(heard).not.toContain('EMPRESA');
      await own.renegotiate();
      own.write(httpAnswer(201, issued(noteAround(harness.dps.bytes))));
    });
    const result = await client.sendDps(caller, harness.dps.bytes, inAMinute);
    expect(result).toMatchObject({ kind: 'done', result: { accessKey } });
    expect(server.output()).toMatch(/depth=0 .*EMPRESA:12345678000195/);
    expect(server.output().match(/POST \/SefinNacional\/nfse/g)).toHaveLength(1);
  });

  it('gets it for a look-up too', async () => {
    const client = await start(async (own) => {
      await own.renegotiate();
      own.write(httpAnswer(404, { erro: { codigo: 'E2404' } }));
    });
    expect(await client.findByDps(caller, harness.dps.id)).toEqual({ kind: 'absent' });
    expect(server.output()).toMatch(/depth=0 .*EMPRESA:12345678000195/);
  });

  it('may refuse it: then nobody knows what became of the request, and no other company is to blame', async () => {
    const stranger = issueCertificate({ subjectName: 'Outra autoridade', validDays: 1, now });
    const client = await start((own) => own.renegotiate(), true, stranger);
    const result = await client.sendDps(caller, harness.dps.bytes, inAMinute);
    expect(result).toMatchObject({ kind: 'unknown', codes: [] });
    expect(result).not.toHaveProperty('outage');
  });

  it('may die in the middle of it: then nobody knows either', async () => {
    const client = await start((own) => {
      void own.renegotiate();
      void own.stop();
    });
    expect(await client.sendDps(caller, harness.dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown', codes: [] });
  });

  it('may answer without it, as it does to a refusal of the schema', async () => {
    const client = await start((own) => own.write(httpAnswer(400, errors('E1235'))));
    expect(await client.sendDps(caller, harness.dps.bytes, inAMinute)).toMatchObject({ kind: 'rejected' });
  });
});
