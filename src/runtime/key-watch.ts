import type { Keyring } from '../adapters/vault/keyring.js';
import { pause } from '../waiting/pause.js';
import type { Logger } from './logger.js';
import type { Runner } from './runner.js';

/** What an operator changes holds within 2 s (interface.md "Commands"). */
const EVERY_MS = 1_000;

/** A rotation is taken up without a restart; what is wrong with the key file is said once, when it begins. */
export const watchMasterKeys = (keyring: Keyring, logger: Logger, runner: Runner): void => {
  const watch = async (): Promise<void> => {
    let said = '';
    let sealing = keyring.sealing().generation;
    while (!runner.stopping.aborted) {
      await pause(EVERY_MS, runner.stopping);
      if (runner.stopping.aborted) return;
      const problem = (await keyring.refresh()).join('; ');
      if (problem !== said && problem !== '') logger.error({ msg: 'the master key file is not complete', problem });
      said = problem;
      // Where nothing may seal any more, that is the problem which was said.
      const generation = problem === '' ? keyring.sealing().generation : sealing;
      if (generation !== sealing) logger.info({ msg: 'another master key seals from now on', generation });
      sealing = generation;
    }
  };
  // Nobody waits for its end: at a silent database that would hold up the stop.
  void watch();
};
