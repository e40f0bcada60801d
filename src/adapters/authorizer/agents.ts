import { Agent } from 'node:https';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { KEPT_CERTIFICATES } from '../../lib/kept-certificates.js';
import { sha256 } from '../../lib/sha256.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';

/**
 * Verifies servers against Node's public roots and `trustRootsPem`; verification is never switched off. At most `maxSockets` connections are open
 * with one certificate.
 */
export const createAgents = (trustRootsPem: readonly string[], maxSockets = 16) => {
  const agents = new Map<string, Agent>();
  const roots = sha256(trustRootsPem.join('\n'), 'hex');
  return {
    /** Keep-alive connections with this certificate and no other; undefined when TLS cannot use it. */
    agentOf: (certificate: CompanyCertificate): Agent | undefined => {
      // By id too, because a certificate that is stored again with its chain has the same fingerprint.
      const key = `${certificate.certificateId} ${certificate.fingerprint}`;
      const agent =
        agents.get(key) ?? agentWith(keptContext(`${key} ${roots}`, certificate, trustRootsPem), maxSockets);
      if (agent === undefined) return undefined;
      agents.delete(key);
      // Before the new one is among them, which is idle until it is used: more companies may be busy than the limit says.
      if (agents.size >= MAX_AGENTS) dropOldestIdle(agents);
      agents.set(key, agent);
      return agent;
    },
    close: (): void => {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
};

/** Companies with idle connections at a time; a further company closes those of the idle company that was used longest ago. */
const MAX_AGENTS = 128;

/** Shorter than the idle limit of common servers: when a server closes a reused socket, the result of a send is unknown. */
const IDLE_MS = 4_000;

const agentWith = (secureContext: SecureContext | undefined, maxSockets: number): Agent | undefined => {
  if (secureContext === undefined) return undefined;
  return new Agent({
    keepAlive: true,
    maxSockets,
    timeout: IDLE_MS,
    secureContext,
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch verification off.
    rejectUnauthorized: true,
    // Sefin resets the streams of HTTP/2 (docs/national-system.md#mutual-tls).
    ALPNProtocols: ['http/1.1'],
  });
};

const dropOldestIdle = (agents: Map<string, Agent>): void => {
  for (const [key, agent] of agents) {
    if (Object.keys(agent.sockets).length > 0 || Object.keys(agent.requests).length > 0) continue;
    agents.delete(key);
    agent.destroy();
    return;
  }
};

/** Contexts outlive their agents, whose connections are few, and serve sends, look-ups and the ADN alike: to make one costs more than an RSA signature. */
const contexts = new LRUCache<string, SecureContext>({ max: KEPT_CERTIFICATES });

const keptContext = (key: string, identity: Identity, trustRootsPem: readonly string[]): SecureContext | undefined => {
  const context = contexts.get(key) ?? secureContextOf(identity, trustRootsPem);
  if (context !== undefined) contexts.set(key, context);
  return context;
};

type Identity = Pick<CompanyCertificate, 'certificatePem' | 'chainPem' | 'privateKeyPem'>;

/**
 * TLS with the company's certificate, trusting Node's public roots and `trustRootsPem`. Undefined when OpenSSL refuses the certificate or its key:
 * damaged PEM, or a digest that OpenSSL considers too weak.
 */
const secureContextOf = (
  { certificatePem, chainPem, privateKeyPem }: Identity,
  trustRootsPem: readonly string[],
): SecureContext | undefined => {
  const own = {
    cert: [certificatePem, ...chainPem].join('\n'),
    key: privateKeyPem,
    // Sefin asks for the certificate by TLS 1.2 renegotiation, which OpenSSL's client answers by itself (docs/national-system.md#renegotiation).
    minVersion: 'TLSv1.2',
  } as const;
  try {
    const context = createSecureContext(own);
    const { addCACert }: Native = context.context;
    if (addCACert === undefined) return createSecureContext({ ...own, ca: [...rootCertificates, ...trustRootsPem] });
    for (const root of trustRootsPem) addCACert.call(context.context, root);
    return context;
  } catch {
    return undefined;
  }
};

/**
 * Node's internal method for adding roots. A list in `ca` would replace the public roots, and repeating them parses 144 certificates for each
 * company: 20 ms of the event loop and 1 MB, against 0.8 ms and 60 KB (ADR 17).
 */
type Native = { addCACert?: (pem: string) => void };
