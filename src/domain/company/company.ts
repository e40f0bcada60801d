import { sortedJson } from '../log/hash-text.js';
import type { CompanyId, Mode } from '../shared/ids.js';
import type { Instant } from '../shared/time.js';
import { unreachable } from '../shared/unreachable.js';
import type { CertificateFacts, CompanyEvent, Registration, Scope } from './events.js';

export type ApiKey = {
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
  certificate?: CertificateFacts;
};

export type CompanyState = { kind: 'none' } | Company;

export const initialCompany: CompanyState = { kind: 'none' };

export const evolveCompany = (state: CompanyState, event: CompanyEvent): CompanyState => {
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
      return state;
    default:
      return unreachable(event);
  }
};

/** A refusal here is for the operator: one English line. No events means "already so". */
export type CompanyDecision = { events: readonly CompanyEvent[] } | { refused: string };

/** A new company is disabled; a change leaves the switch as it is (interface.md "company put"). */
export const putCompany = (state: CompanyState, registration: Registration, at: Instant): CompanyDecision => {
  if (state.kind === 'none') return { events: [{ type: 'CompanyRegistered', data: { registration, at } }] };
  const same = sortedJson(state.registration) === sortedJson(registration);
  return { events: same ? [] : [{ type: 'CompanyChanged', data: { registration, at } }] };
};

export const switchCompany = (state: CompanyState, enabled: boolean, at: Instant): CompanyDecision => {
  if (state.kind === 'none') return unknownCompany;
  if (state.enabled === enabled) return { events: [] };
  return { events: [{ type: enabled ? 'CompanyEnabled' : 'CompanyDisabled', data: { at } }] };
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

const unknownCompany: CompanyDecision = { refused: 'no such company: register it with company put first' };
