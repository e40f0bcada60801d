import { describe, expect, it } from 'vitest';
import { demandsNow } from '../../../src/domain/municipality/demands.js';
import {
  ageSeconds,
  type CachedParameters,
  dottedService,
  questionKeyOf,
  USED_SECONDS,
  usableConvenio,
} from '../../../src/domain/municipality/parameters.js';
import { at, T0 } from '../../support/fixture/invoice.js';

const convenio = (changes: object, knownAt = T0): CachedParameters => ({
  questionKey: 'convenio',
  known: { kind: 'convenio', isActive: true, nationalEmitter: true, ...changes },
  knownAt,
});

const onlyRegistered = convenio({ rfbContributors: false });
const anyone = convenio({ rfbContributors: true });
const inactive: CachedParameters = {
  questionKey: 'convenio',
  known: { kind: 'convenio', isActive: false },
  knownAt: T0,
};

describe('what a municipality demands', () => {
  it.each([
    ['nobody has told anything', undefined, [], 'normal', false],
    ['whoever is known by the CNPJ may issue', undefined, [anyone], 'normal', false],
    ['only those with an entry in CNC may issue', undefined, [onlyRegistered], 'normal', true],
    ['the same, of a ME/EPP', undefined, [onlyRegistered], 'simples', true],
    ['the same, of a MEI, who is exempt', undefined, [onlyRegistered], 'mei', false],
    ['the flag was not told', undefined, [convenio({})], 'normal', false],
    ['the convênio is not active', undefined, [inactive], 'normal', false],
    ['an operator says that it is not demanded', { requiresRegistration: false }, [onlyRegistered], 'normal', false],
    ['an operator says that it is, of a MEI too', { requiresRegistration: true }, [anyone], 'mei', true],
    ['an operator has spoken of the customer only', { requiresCustomer: true }, [onlyRegistered], 'normal', true],
  ] as const)('is a registration or not: %s', (_what, operator, kept, regime, expected) => {
    expect(demandsNow(operator, kept, regime, at(60)).requiresRegistration).toBe(expected);
  });

  it('is a customer only when an operator says so: no parameter tells it', () => {
    expect(demandsNow(undefined, [onlyRegistered, inactive], 'normal', T0).requiresCustomer).toBe(false);
    expect(demandsNow({ requiresCustomer: true }, [], 'normal', T0).requiresCustomer).toBe(true);
  });

  it('is unknown again when the answer is older than a week', () => {
    expect(demandsNow(undefined, [onlyRegistered], 'normal', at(USED_SECONDS)).requiresRegistration).toBe(true);
    expect(demandsNow(undefined, [onlyRegistered], 'normal', at(USED_SECONDS + 1)).requiresRegistration).toBe(false);
    expect(usableConvenio([onlyRegistered], at(USED_SECONDS + 1))).toBeUndefined();
  });
});

describe('a question to the parameters API', () => {
  it('names a service with dots and nine digits, 000 where the municipality has no code of its own', () => {
    expect(dottedService('010701')).toBe('01.07.01.000');
    expect(dottedService('010401', '003')).toBe('01.04.01.003');
  });

  it('has one questionKey, whatever day it is asked for', () => {
    expect(questionKeyOf({ kind: 'convenio' })).toBe('convenio');
    expect(questionKeyOf({ kind: 'aliquota', service: '01.07.01.000' })).toBe('aliquota/01.07.01.000');
  });

  it('has an answer whose age is never negative', () => {
    expect([ageSeconds(T0, at(90)), ageSeconds(T0, at(-90))]).toEqual([90, 0]);
  });
});
