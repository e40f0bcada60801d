import { pruneGuards } from '../../../src/adapters/guards-postgres/guards.js';
import { createPreviousGeneration } from '../../../src/adapters/read-model-postgres/kept-rows.js';
import { unreachable } from '../../../src/domain/common/unreachable.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/config/logger.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { openEngines } from '../../../src/runtime/engines/engines.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { workChecks } from '../../../src/runtime/operator/work-checks.js';
import { type Sweeper, sweep } from '../../../src/workers/sweeper.js';
import { certificateBreaker, openBreaker } from '../../support/harness/event-store.js';
import { fakeAuthorizer } from '../../support/harness/fake-authorizer.js';
import { fakeSigner } from '../../support/harness/issuing.js';
import { collectingQueue } from '../../support/harness/workers.js';
import { serveParent } from '../child.js';

/** `sweep` and `checks` answer milliseconds, `disk` bytes of the database. */
export type OperatorQuestion = 'sweep' | 'checks' | 'disk';

/** What the sweeper and `nfse doctor` do over the engines of a data folder, timed in this process beside the running service. */
await serveParent<Record<string, string>, OperatorQuestion>(async (env) => {
  const parsed = readConfig(env);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const { config } = parsed;
  const runner = createRunner(() => undefined);
  const options = { config, runner, clock: systemClock, logger: createLogger('silent', 'stderr') };
  const engines = await openEngines({ ...options, startedFor: 'command' });
  const { log, pool, readModel, store, guards } = engines;
  const queue = collectingQueue();
  const sweeper: Sweeper = {
    log,
    readModel,
    queue,
    cuts: guards.cuts,
    previousGeneration: createPreviousGeneration(pool),
    deps: {
      store,
      clock: systemClock,
      limits: config.limits,
      lookups: guards.lookups,
      signer: fakeSigner,

      authorizer: fakeAuthorizer(),
      breaker: openBreaker(systemClock),
      certificates: certificateBreaker(systemClock),
      actor: 'timer:sweeper',
      company: readModel.company,
      identityOf: async () => undefined,
      currencyCode: () => undefined,
      notify: () => undefined,
    },
    inTrace: (_stream, conclude) => conclude(),
    onFault: (_stream, error) => {
      throw error;
    },
  };
  let sweeps = 0;
  const millisecondsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const answer = (question: OperatorQuestion): Promise<number> => {
    switch (question) {
      case 'sweep':
        sweeps += 1;
        return millisecondsOf(async () => {
          await sweep(sweeper, sweeps);
          await pruneGuards(pool, { idempotencySeconds: config.idempotencySeconds }, systemClock.now());
        });
      case 'checks':
        return millisecondsOf(() => workChecks({ engines, config, clock: systemClock, queue }, []));
      case 'disk':
        return databaseBytes();
      default:
        return unreachable(question);
    }
  };
  const databaseBytes = async (): Promise<number> => {
    const { rows } = await pool.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes');
    return Number(rows[0]?.bytes);
  };
  return { ready: true, answer, close: () => runner.stop() };
});
