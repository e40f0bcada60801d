import { Agent } from 'node:https';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { secureContextOf } from './secure-context.js';

export type Agents = {
  /** Keep-alive connections under this certificate, never under another; undefined when TLS cannot use it. */
  agentOf(certificate: CompanyCertificate): Agent | undefined;
  close(): void;
};

/**
 * `trustRootsPem` are trusted beside the public roots that Node carries; verification is never switched off. At most
 * `maxSockets` connections are open under one certificate.
 */
export const createAgents = (trustRootsPem: readonly string[], maxSockets = 16): Agents => {
  const agents = new Map<string, Agent>();
  return {
    agentOf: (certificate) => {
      const agent = agents.get(certificate.fingerprint) ?? createAgent(certificate, trustRootsPem, maxSockets);
      if (agent === undefined) return undefined;
      agents.delete(certificate.fingerprint);
      agents.set(certificate.fingerprint, agent);
      if (agents.size > MAX_AGENTS) dropOldestIdle(agents);
      return agent;
    },
    close: () => {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
};

/** Companies with open connections at a time; one more closes the idle one that was used longest ago. */
const MAX_AGENTS = 128;

/** Below the idle limit of common servers: a socket that they close under us turns a send into an unknown one. */
const IDLE_MS = 4_000;

const createAgent = (
  certificate: CompanyCertificate,
  trustRootsPem: readonly string[],
  maxSockets: number,
): Agent | undefined => {
  const secureContext = secureContextOf(certificate, trustRootsPem);
  if (secureContext === undefined) return undefined;
  return new Agent({
    keepAlive: true,
    maxSockets,
    timeout: IDLE_MS,
    secureContext,
    // Said here, it holds whatever the environment says.
    rejectUnauthorized: true,
    // Sefin resets the streams of HTTP/2 (domain.md section 2).
    ALPNProtocols: ['http/1.1'],
  });
};

const dropOldestIdle = (agents: Map<string, Agent>): void => {
  for (const [fingerprint, agent] of agents) {
    if (Object.keys(agent.sockets).length > 0 || Object.keys(agent.requests).length > 0) continue;
    agents.delete(fingerprint);
    agent.destroy();
    return;
  }
};
