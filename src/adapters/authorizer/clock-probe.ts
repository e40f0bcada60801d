import type { DpsId } from '../../domain/common/access-key.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { createAgents } from './agents.js';
import { exchange } from './exchange.js';
import { processedMsOf, readJson } from './responses.js';

/** How far the authorizer's clock is ahead of ours, in seconds; `unknown` when no answer with its time came. */
export type ClockOffset = { kind: 'known'; seconds: number } | { kind: 'unknown'; reason: string };

type ClockProbeOptions = {
  /** Base URL of the environment. */
  address: string;
  trustRootsPem: readonly string[];
  certificate: CompanyCertificate;
  timeoutMs: number;
  now(): Instant;
};

/**
 * Asks for a DPS, which may be absent: each JSON answer holds `dataHoraProcessamento`, which is compared with the middle of the call. Never rejects.
 * A clock more than a minute ahead of the authorizer's gets every DPS refused (E0008, docs/national-system.md#dhemi).
 */
export const probeClock = async (dpsId: DpsId, options: ClockProbeOptions): Promise<ClockOffset> => {
  const agents = createAgents(options.trustRootsPem);
  try {
    const agent = agents.agentOf(options.certificate);
    if (agent === undefined) return { kind: 'unknown', reason: 'TLS cannot use the certificate' };
    const askedAt = epochMs(options.now());
    const answer = await exchange({
      agent,
      method: 'GET',
      url: new URL(`${options.address.replace(/\/+$/, '')}/dps/${dpsId}`),
      timeoutMs: options.timeoutMs,
      maxBytes: MAX_PROBE_BYTES,
    });
    const heardAt = epochMs(options.now());
    if (answer.kind !== 'answered') return { kind: 'unknown', reason: answer.reason };
    const body = readJson(answer.contentType, answer.body);
    const ms = body === undefined ? undefined : processedMsOf(body);
    if (ms === undefined) return { kind: 'unknown', reason: `HTTP ${answer.status} without its time` };
    return { kind: 'known', seconds: Math.round((ms - (askedAt + heardAt) / 2) / 1000) };
  } catch {
    return { kind: 'unknown', reason: 'the answer cannot be read' };
  } finally {
    agents.close();
  }
};

/** The answer to a look-up of a DPS has a few hundred bytes, whether the DPS exists or not. */
const MAX_PROBE_BYTES = 64 * 1024;
