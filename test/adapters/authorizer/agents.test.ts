import { rootCertificates } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { createAgents } from '../../../src/adapters/authorizer/agents.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { certificateFor } from '../../support/fixture/sefin.js';
import { now } from '../../support/harness/authorizer-client.js';

describe('the connections of many companies', () => {
  const certificate = certificateFor(issueCertificate({ subjectName: 'Autoridade', validDays: 1, now }), now);
  const companies = Array.from({ length: 129 }, (_, index) => ({ ...certificate, certificateId: `c${index}` }));
  const contextsOf = (agents: ReturnType<typeof createAgents>) =>
    companies.map((one) => agents.agentOf(one)?.options.secureContext);

  it('use the TLS context again that was made for a company, also when its connections were closed for another one', () => {
    const [sends, lookUps] = [createAgents([]), createAgents([])];
    const first = sends.agentOf({ ...certificate, certificateId: 'c0' });
    const made = contextsOf(sends);
    expect(sends.agentOf({ ...certificate, certificateId: 'c0' })).not.toBe(first);
    expect(new Set(made).size).toBe(companies.length);
    expect(contextsOf(sends).every((context, index) => context === made[index])).toBe(true);
    expect(contextsOf(lookUps).every((context, index) => context === made[index])).toBe(true);
    for (const agents of [sends, lookUps]) agents.close();
  });

  it('of a further company are kept while every other company has a call under way', () => {
    const agents = createAgents([]);
    for (const one of companies.slice(1)) Object.assign(agents.agentOf(one)?.sockets ?? {}, { busy: [] });
    const further = agents.agentOf({ ...certificate, certificateId: 'c0' });
    expect(agents.agentOf({ ...certificate, certificateId: 'c0' })).toBe(further);
    agents.close();
  });

  it('never use the TLS context of other roots, of a renewed certificate or of one with another chain', () => {
    const [agents, others] = [createAgents([]), createAgents(rootCertificates.slice(0, 1))];
    const context = (from: typeof agents, change: Partial<typeof certificate>) =>
      from.agentOf({ ...certificate, ...change })?.options.secureContext;
    const made = [
      context(agents, {}),
      context(others, {}),
      context(agents, { certificateId: 'renewed' }),
      context(agents, { fingerprint: 'another' }),
    ];
    expect(made.every((one) => one !== undefined)).toBe(true);
    expect(new Set(made).size).toBe(4);
    for (const one of [agents, others]) one.close();
  });
});
