import { type Decision, type Fold, noChange } from '../common/decision.js';
import type { CompanyId, Mode } from '../common/ids.js';
import { present } from '../common/present.js';
import type { Instant } from '../common/time.js';
import { unreachable } from '../common/unreachable.js';
import { sortedJson } from '../log/hash-text.js';
import type { CertificateFacts, CompanyEvent, KeyFault, Registration, Scope } from './events.js';

type ApiKey = {
  keyId: string;
  mode: Mode;
  scopes: readonly Scope[];
  keyHash: string;
  createdAt: Instant;
  revoked: boolean;
};

export type Company = {
  kind: 'company';
  registration: Registration;
  enabled: boolean;
  keys: readonly ApiKey[];
  /** `unusable`: what the process that opened the certificate last found. */
  certificate?: CertificateFacts & { unusable?: KeyFault };
};

export type CompanyState = { kind: 'none' } | Company;

const evolve = (state: CompanyState, event: CompanyEvent): CompanyState => {
  if (event.type === 'CompanyRegistered') {
    return { kind: 'company', registration: event.data.registration, enabled: false, keys: [] };
  }
  if (state.kind === 'none') throw new Error(`${event.type} before CompanyRegistered`);
  switch (event.type) {
    case 'CompanyChanged':
      return { ...state, registration: event.data.registration };
    case 'CompanyEnabled':
      return { ...state, enabled: true };
    case 'CompanyDisabled':
      return { ...state, enabled: false };
    case 'ApiKeyCreated': {
      const { keyId, mode, scopes, keyHash, at } = event.data;
      return { ...state, keys: [...state.keys, { keyId, mode, scopes, keyHash, createdAt: at, revoked: false }] };
    }
    case 'ApiKeyRevoked': {
      const { keyId } = event.data;
      return { ...state, keys: state.keys.map((key) => (key.keyId === keyId ? { ...key, revoked: true } : key)) };
    }
    case 'CertificateStored': {
      const { at: _at, ...certificate } = event.data;
      return { ...state, certificate };
    }
    case 'CertificateOpened':
      return withOpening(state, event.data);
    case 'CertificatesRemoved':
      return withoutCertificates(state, event.data.certificateIds);
    default:
      return unreachable(event);
  }
};

const withOpening = (
  company: Company,
  { certificateId, unusable }: { certificateId: string; unusable?: KeyFault },
): Company => {
  if (company.certificate?.certificateId !== certificateId) return company;
  const { unusable: _earlier, ...facts } = company.certificate;
  return { ...company, certificate: present({ ...facts, unusable }) };
};

const withoutCertificates = (company: Company, certificateIds: readonly string[]): Company => {
  const { certificate, ...rest } = company;
  return certificate !== undefined && certificateIds.includes(certificate.certificateId) ? rest : company;
};

export const companyFold: Fold<CompanyState, CompanyEvent> = { initial: { kind: 'none' }, evolve };

/** A refusal is one English line for the operator. */
export type CompanyDecision = Decision<CompanyEvent>;

/** A new company is disabled. A change leaves the switch as it is. */
export const putCompany = (state: CompanyState, registration: Registration, at: Instant): CompanyDecision => {
  if (state.kind === 'none') return { events: [{ type: 'CompanyRegistered', data: { registration, at } }] };
  const same = sortedJson(state.registration) === sortedJson(registration);
  return { events: same ? [] : [{ type: 'CompanyChanged', data: { registration, at } }] };
};

export const switchCompany = (state: CompanyState, enabled: boolean, at: Instant): CompanyDecision => {
  if (state.kind === 'none') return unknownCompany;
  if (state.enabled === enabled) return noChange;
  return { events: [{ type: enabled ? 'CompanyEnabled' : 'CompanyDisabled', data: { at } }] };
};

/**
 * Records once more that the company is disabled: a switch that was decided before this event loses the race for the stream, and is decided again.
 * Refused while the company is enabled.
 */
export const keepDisabled = (state: CompanyState, at: Instant): Decision<CompanyEvent, 'enabled'> => {
  if (state.kind === 'none') return noChange;
  return state.enabled ? { refused: 'enabled' } : { events: [{ type: 'CompanyDisabled', data: { at } }] };
};

export const createApiKey = (
  state: CompanyState,
  key: { keyId: string; companyId: CompanyId; mode: Mode; scopes: readonly Scope[]; keyHash: string },
  at: Instant,
): CompanyDecision =>
  state.kind === 'none' ? unknownCompany : { events: [{ type: 'ApiKeyCreated', data: { ...key, at } }] };

export const revokeApiKey = (state: CompanyState, keyId: string, at: Instant): CompanyDecision => {
  if (state.kind === 'none') return unknownCompany;
  const key = state.keys.find((candidate) => candidate.keyId === keyId);
  if (key === undefined) return { refused: 'no such key' };
  return { events: key.revoked ? [] : [{ type: 'ApiKeyRevoked', data: { keyId, at } }] };
};

export const storeCertificate = (state: CompanyState, certificate: CertificateFacts, at: Instant): CompanyDecision =>
  state.kind === 'none' ? unknownCompany : { events: [{ type: 'CertificateStored', data: { ...certificate, at } }] };

/**
 * Removes stored certificates. Refused for the current one of an enabled company, which issues with it. `certificateIds` are those that are still
 * stored; no change without any.
 */
export const removeCertificates = (
  state: CompanyState,
  certificateIds: readonly string[],
  at: Instant,
): CompanyDecision => {
  if (state.kind === 'none') return unknownCompany;
  const current = state.certificate?.certificateId;
  if (state.enabled && current !== undefined && certificateIds.includes(current))
    return { refused: 'the company is enabled and issues with this certificate: disable the company first' };
  return certificateIds.length === 0
    ? noChange
    : { events: [{ type: 'CertificatesRemoved', data: { certificateIds, at } }] };
};

/** Every command about a company that is not registered is refused with this text, which has no CNPJ. */
export const NO_SUCH_COMPANY = 'no such company: register it with company put first';

const unknownCompany: CompanyDecision = { refused: NO_SUCH_COMPANY };

/** The text of a new key. `secret` is 32 random bytes in base64url. The prefix shows the mode to the key's owner. */
export const apiKeyText = (mode: Mode, secret: string): string => `svc_sk_${mode}_${secret}`;

/** The mode that the key's prefix names; undefined for a text without the form of a key. */
export const modeOfApiKey = (text: string): Mode | undefined => {
  const mode = KEY.exec(text)?.[1];
  return mode === 'live' || mode === 'test' ? mode : undefined;
};

const KEY = /^svc_sk_(live|test)_[A-Za-z0-9_-]{43}$/;

/** The whole API keys in a text, each once. A key that got out is found in a line of a log, of a settings file or of code. */
export const apiKeysIn = (text: string): readonly string[] => [...new Set(text.match(KEYS) ?? [])];

const KEYS = /svc_sk_(?:live|test)_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])/g;

/** `text` without the secret part of each API key in it. Keys of another length count: part of a secret is a secret too. */
export const withoutApiKeys = (text: string): string => text.replace(/(svc_sk_(?:live|test)_)[A-Za-z0-9_-]+/g, '$1…');
