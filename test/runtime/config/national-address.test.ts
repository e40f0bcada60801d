import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/runtime/config/config.js';
import { adnAddress } from '../../../src/runtime/engines/authorizers.js';

const simulator = {
  urls: { test: 'https://127.0.0.1:9/test/SefinNacional', live: 'https://127.0.0.1:9/live/SefinNacional' },
};

const addressUnder = (env: NodeJS.ProcessEnv, withSimulator = false): string | undefined => {
  const read = readConfig(env);
  if ('problems' in read) throw new Error(read.problems.join('; '));
  return adnAddress(read.config, withSimulator ? simulator : undefined, 'test', 'parametrizacao');
};

describe('the address of the municipal parameters API', () => {
  it.each([
    [
      'the ADN’s beside Sefin',
      { AUTHORIZER_TEST_URL: 'https://sefin.producaorestrita.nfse.gov.br/SefinNacional' },
      'https://adn.producaorestrita.nfse.gov.br/parametrizacao',
    ],
    [
      'a path of the same host beside another authorizer, port included',
      { AUTHORIZER_TEST_URL: 'https://authorizer.example:8443/test/SefinNacional' },
      'https://authorizer.example:8443/parametrizacao',
    ],
    [
      'beside the authorizer’s path where a simulator serves the mode: its environments share a host',
      { AUTHORIZER_TEST_URL: 'https://simulator:3443/test/SefinNacional', SIMULATED_MODES: 'test' },
      'https://simulator:3443/test/parametrizacao',
    ],
    [
      'the one that is set, without its last slash',
      {
        AUTHORIZER_TEST_URL: 'https://sefin.nfse.gov.br/SefinNacional',
        PARAMETERS_TEST_URL: 'https://parameters.example/parametrizacao/',
      },
      'https://parameters.example/parametrizacao',
    ],
    [
      'of the other mode, which says nothing of this one',
      { AUTHORIZER_LIVE_URL: 'https://sefin.nfse.gov.br/S' },
      undefined,
    ],
  ])('is %s', (_what, env, expected) => {
    expect(addressUnder(env)).toBe(expected);
  });

  it('is the simulator’s of this process where no authorizer is set', () => {
    expect(addressUnder({}, true)).toBe('https://127.0.0.1:9/test/parametrizacao');
    const elsewhere = { AUTHORIZER_TEST_URL: 'https://sefin.nfse.gov.br/SefinNacional' };
    expect(addressUnder(elsewhere, true)).toBe('https://adn.nfse.gov.br/parametrizacao');
  });

  it('is refused at the start when it is not https', () => {
    expect(readConfig({ PARAMETERS_LIVE_URL: 'http://adn.example' })).toEqual({
      problems: ['PARAMETERS_LIVE_URL must be a https: address'],
    });
  });
});

describe('the address of the distribution', () => {
  const addressOf = (env: NodeJS.ProcessEnv, withSimulator = false): string | undefined => {
    const read = readConfig(env);
    if ('problems' in read) throw new Error(read.problems.join('; '));
    return adnAddress(read.config, withSimulator ? simulator : undefined, 'live', 'contribuintes');
  };

  it.each([
    [
      'the ADN’s beside Sefin',
      { AUTHORIZER_LIVE_URL: 'https://sefin.nfse.gov.br/SefinNacional' },
      'https://adn.nfse.gov.br/contribuintes',
    ],
    [
      'the one that is set',
      {
        AUTHORIZER_LIVE_URL: 'https://sefin.nfse.gov.br/S',
        DISTRIBUTION_LIVE_URL: 'https://adn.example/contribuintes',
      },
      'https://adn.example/contribuintes',
    ],
  ])('is %s', (_what, env, expected) => {
    expect(addressOf(env)).toBe(expected);
  });

  it('is the simulator’s of this process where no authorizer is set', () => {
    expect(addressOf({}, true)).toBe('https://127.0.0.1:9/live/contribuintes');
  });
});
