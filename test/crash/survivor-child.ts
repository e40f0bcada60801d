import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { readConfig, roles } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/config/logger.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import type { Service } from '../../src/runtime/roles/parts.js';
import { startService } from '../../src/runtime/service.js';

/**
 * The process in which services go on with the data of killed processes: one after another and side by side, because a separate process for each
 * takes most of a second of processor time to start. POST with a service's variables answers its address, DELETE with this address ends the service.
 */
const services = new Map<string, Service>();

const answer = async (request: IncomingMessage): Promise<string> => {
  const asked = await text(request);
  if (request.method === 'DELETE') {
    await services.get(asked)?.stop();
    services.delete(asked);
    return asked;
  }
  const parsed = readConfig(JSON.parse(asked) as NodeJS.ProcessEnv);
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const logger = createLogger(parsed.config.logLevel, 'stderr');
  const service = await startService({ config: parsed.config, roles, clock: systemClock, logger });
  services.set(service.url, service);
  return service.url;
};

const control = createServer((request, response) => {
  answer(request).then(
    (said) => response.end(said),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});

// The pipe closes when the parent process has died.
process.stdin.on('end', () => process.exit(1)).resume();
control.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ msg: 'ready', url })}\n`);
});
