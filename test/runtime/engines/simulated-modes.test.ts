import { describe, expect, it } from 'vitest';
import { modesWithoutAuthorizer, readConfig, simulatedModes } from '../../../src/runtime/config/config.js';
import { composeService } from '../../support/compose.js';

const addresses = { AUTHORIZER_TEST_URL: 'https://one.example/x', AUTHORIZER_LIVE_URL: 'https://two.example/x' };

const read = (env: NodeJS.ProcessEnv) => {
  const result = readConfig(env);
  if ('problems' in result) throw new Error(result.problems.join('; '));
  return { simulated: simulatedModes(result.config), here: modesWithoutAuthorizer(result.config) };
};

describe('the modes of a simulator', () => {
  it('are those without an address, which the process itself then serves', () => {
    expect(read({})).toEqual({ simulated: ['live', 'test'], here: ['live', 'test'] });
    expect(read({ AUTHORIZER_TEST_URL: addresses.AUTHORIZER_TEST_URL })).toEqual({
      simulated: ['live'],
      here: ['live'],
    });
    expect(read(addresses)).toEqual({ simulated: [], here: [] });
  });

  it('are also those whose address is said to be a simulator elsewhere, and no second one is started', () => {
    expect(read({ ...addresses, SIMULATED_MODES: 'test,live' })).toEqual({ simulated: ['live', 'test'], here: [] });
    expect(read({ ...addresses, SIMULATED_MODES: 'live' })).toEqual({ simulated: ['live'], here: [] });
    expect(read({ ...addresses, SIMULATED_MODES: '' })).toEqual({ simulated: [], here: [] });
  });

  it('are both in compose.yaml, as long as nobody says otherwise', () => {
    const { AUTHORIZER_TEST_URL, AUTHORIZER_LIVE_URL, SIMULATED_MODES } = composeService('api').environment;
    expect([AUTHORIZER_TEST_URL, AUTHORIZER_LIVE_URL].map((url) => new URL(url ?? '').hostname)).toEqual([
      'simulator',
      'simulator',
    ]);
    expect(read({ AUTHORIZER_TEST_URL, AUTHORIZER_LIVE_URL, SIMULATED_MODES }).simulated).toEqual(['live', 'test']);
  });

  it.each(['demo', 'test;live', 'test,', 'live,live'])('cannot be called %s', (text) => {
    expect(readConfig({ SIMULATED_MODES: text })).toEqual({
      problems: ['SIMULATED_MODES must be test, live or test,live'],
    });
  });
});
