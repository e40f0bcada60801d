import type { AuthorizedNote, Authorizer, SendResult } from '../../src/ports/authorizer.js';
import { readConfig, roles } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { startService } from '../../src/runtime/service.js';

/**
 * The service with two faults in it, for the test of the run and its judge: it sends every DPS twice, and keeps every note with a line
 * break behind it. Configured by the service's own variables.
 */
const broken = (authorizer: Authorizer): Authorizer => ({
  ...authorizer,
  sendDps: async (...send) => {
    const result = await authorizer.sendDps(...send);
    await authorizer.sendDps(...send);
    return altered(result);
  },
});

const altered = (result: SendResult<AuthorizedNote>): SendResult<AuthorizedNote> =>
  result.kind === 'done'
    ? { kind: 'done', result: { ...result.result, xml: Buffer.concat([result.result.xml, Buffer.from('\n')]) } }
    : result;

const parsed = readConfig(process.env);
if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
const { config } = parsed;
const logger = createLogger(config.logLevel, 'stderr');
const service = await startService({ config, roles, clock: systemClock, logger, decorateAuthorizer: broken });
process.once('SIGTERM', () => void service.stop());
process.stdout.write(`${JSON.stringify({ msg: 'ready', url: service.url })}\n`);
