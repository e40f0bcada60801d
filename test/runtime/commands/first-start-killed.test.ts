import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import { loadCompany } from '../../../src/app/operator/company/company-commands.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { isFirstStart, makeDemoCompany } from '../../../src/runtime/commands/first-start.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { openEngines } from '../../../src/runtime/engines/engines.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { giveIdentity } from '../../support/fixture/simulator-identity.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';
import { runLogger } from '../../support/run-logs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

class Killed extends Error {}

describeWithPostgres('a first start that is killed', () => {
  it('between any two appends is repeated, or has left a demo company that can be used', async () => {
    const folder = temporaryFolder();
    await giveIdentity(join(folder, 'simulator'));
    const database = await freshDatabase();
    const parsed = readConfig({
      DATA_DIR: folder,
      DATABASE_URL: database.connectionString,
      MASTER_KEY_FILE: join(folder, 'master.key'),
    });
    if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
    const config = { ...parsed.config, masterKeyMayBeMade: true };
    let left = 0;
    const mortal = (store: EventStore): EventStore => ({
      ...store,
      append: (...what) => {
        if (left === 0) throw new Killed();
        left -= 1;
        return store.append(...what);
      },
    });
    const runner = createRunner(() => undefined);
    const engines = await openEngines({
      config,
      clock: systemClock,
      logger: runLogger(),
      runner,
      startedFor: 'command' as const,
      decorateStore: mortal,
    });
    try {
      let isMade = false;
      for (let appends = 1; !isMade; appends += 1) {
        left = appends;
        isMade = await makeDemoCompany({ engines }, config, systemClock, ['test']).then(
          () => true,
          (error: unknown) => {
            if (error instanceof Killed) return false;
            throw error;
          },
        );
        const { state } = await loadCompany(demoCompany().cnpj, engines.store);
        const isUsable = state.kind === 'company' && state.enabled && state.keys.length > 0;
        expect([appends, isUsable || (await isFirstStart(engines))]).toEqual([appends, true]);
      }
    } finally {
      await runner.stop();
      await database.close();
    }
  });
});
