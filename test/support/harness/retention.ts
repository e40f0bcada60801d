import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { auditCommands } from '../../../src/cli/commands/audit.js';
import { eventCommands } from '../../../src/cli/commands/events.js';
import { projectionCommands } from '../../../src/cli/commands/projections.js';
import { runCommand } from '../../../src/cli/run.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { sessionOver } from '../../../src/runtime/operator/session.js';
import type { Planted } from '../planted.js';
import { runLogger } from '../run-logs.js';
import { untilServed } from '../until-served.js';
import { runningClock } from './running-clock.js';
import { PROMPT, type RunningService, startRunningService } from './running-service.js';

export type Mode = 'live' | 'test';
export type Body = Record<string, unknown> & { id: string; status: string; created_at: string };

/** The service with a running clock that the test can move forward, with a client and an operator. */
export type RetentionHarness = {
  running: RunningService;
  call(mode: Mode, path: string, body?: object, headers?: object): Promise<{ status: number; body: Body }>;
  bytes(mode: Mode, path: string): Promise<{ status: number; bytes: Buffer }>;
  /** To so many seconds after the instant, whatever the time that passed since. */
  moveTo(at: string, seconds: number): void;
  operate(...argv: string[]): Promise<{ exit: number; out: string }>;
};

export const openRetentionHarness = async (env: NodeJS.ProcessEnv): Promise<RetentionHarness> => {
  const clock = runningClock();
  const running = await startRunningService({ ...PROMPT, ...env }, undefined, clock);
  return {
    running,
    call: (mode, path, body, headers) =>
      running.call<Body>(mode, body === undefined ? 'GET' : 'POST', path, body, headers),
    bytes: async (mode, path) => {
      const headers = { authorization: `Bearer ${running.keys[mode]}` };
      const response = await untilServed(() => fetch(`${running.service.url}${path}`, { headers }));
      return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
    },
    moveTo: clock.moveTo,
    operate: async (...argv) => {
      const out: string[] = [];
      const write = (text: string): void => void out.push(text);
      const runner = createRunner(() => undefined);
      const { engines } = running.service;
      const session = sessionOver(engines, running.config, clock, { logger: runLogger(), runner });
      const commands = [...eventCommands, ...auditCommands(), ...projectionCommands];
      const terminal = { out: write, err: write };
      const exit = await runCommand(argv, commands, async () => session, terminal).finally(() => runner.stop());
      return { exit, out: out.join('\n') };
    },
  };
};

/** An invoice with everything personal that a client can send; amounts tell them apart at the simulator. */
export const personalBody = (planted: Planted, amount: number) => ({
  amount_in_cents: amount,
  reference: `${planted.reference}-${amount}`,
  description: `${planted.description} ${amount}`,
  customer: { document: planted.cpf, name: planted.customerName },
});

/** Sealed texts as `log.ndjson` holds them: stream, field and text. */
export type SealedLine = { stream: string; id: string; field: string; text: string };

export const sealedInExport = async (file: string): Promise<readonly SealedLine[]> => {
  const found: SealedLine[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { stream, id, data } = JSON.parse(line) as { stream: string; id: string; data: Record<string, unknown> };
    for (const [field, text] of Object.entries(data))
      if (typeof text === 'string' && text.startsWith('sealed:')) found.push({ stream, id, field, text });
  }
  return found;
};
