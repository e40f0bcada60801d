import type { ParameterQuestion } from '../../domain/municipality/parameters.js';
import type { Mode } from '../../domain/shared/ids.js';
import type { FiscalDate } from '../../domain/shared/time.js';
import type { Caller } from '../../ports/authorizer.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import type { MunicipalParametersApi } from '../../ports/municipal-parameters.js';
import { createAgents } from './agents.js';
import { exchange } from './exchange.js';
import { readParameters } from './parameters-answer.js';

export type ParametersOptions = {
  /** Base URL per environment, used as a prefix: `https://adn.host/parametrizacao`. */
  addresses: Record<Mode, string>;
  /** Trusted beside the public roots. */
  trustRootsPem: readonly string[];
  /** Of one call, from the wait for a socket to the last byte. */
  timeoutMs: number;
  certificateOf(caller: Caller): Promise<CompanyCertificate | undefined>;
};

/** The longest answer, the special regimes of a service, has a few kilobytes: small enough to be read in the event loop. */
const MAX_PARAMETERS_BYTES = 64 * 1024;

/** The parameters API of the ADN over mutual TLS (openapi README, "Municipal parameters"). `close` drops idle connections. */
export const createMunicipalParameters = (options: ParametersOptions): MunicipalParametersApi & { close(): void } => {
  const agents = createAgents(options.trustRootsPem);
  return {
    ask: async (caller, ibge, question, competence) => {
      try {
        const certificate = await options.certificateOf(caller).catch(() => undefined);
        if (certificate === undefined) return { kind: 'no_proof', reason: 'certificate_missing' };
        const agent = agents.agentOf(certificate);
        if (agent === undefined) return { kind: 'no_proof', reason: 'certificate_unusable' };
        const answer = await exchange({
          agent,
          method: 'GET',
          url: new URL(`${options.addresses[caller.mode].replace(/\/+$/, '')}${pathOf(ibge, question, competence)}`),
          ...{ connectTimeoutMs: options.timeoutMs, timeoutMs: options.timeoutMs },
          ...{ maxBytes: MAX_PARAMETERS_BYTES, identityOnly: true },
        });
        return readParameters(question, answer);
      } catch {
        return { kind: 'no_proof', reason: 'unreadable' };
      }
    },
    close: () => agents.close(),
  };
};

/** Competence as `AAAA-MM-DD` only: other forms are read month-first. */
const pathOf = (ibge: string, question: ParameterQuestion, competence: FiscalDate): string => {
  switch (question.kind) {
    case 'convenio':
      return `/${ibge}/convenio`;
    case 'retencoes':
      return `/${ibge}/${competence}/retencoes`;
    default:
      return `/${ibge}/${question.service}/${competence}/${question.kind}`;
  }
};
