import { runCommand } from '../../../src/cli/run.js';
import { setupCommands } from '../../../src/runtime/commands/setup.js';
import { readConfig } from '../../../src/runtime/config/config.js';

/** `nfse setup database` in this process. A fault rejects, as it does for the caller of a command. */
export const runSetupDatabase = async (env: NodeJS.ProcessEnv, ...args: readonly string[]) => {
  const parsed = readConfig({ MASTER_KEY_FILE: '/nowhere', ...env });
  if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
  const output: string[] = [];
  const say = (text: string): void => void output.push(text);
  const exit = await runCommand(
    ['setup', 'database', ...args],
    setupCommands(() => parsed.config),
    () => Promise.reject(new Error('it opens no session')),
    { out: say, err: say },
  );
  return { exit, output: output.join('\n') };
};
