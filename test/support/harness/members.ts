import { type Program, startProgram } from './processes.js';

/** One process of a service that consists of several. */
export type Member = {
  program: Program;
  /** URL of the public API; empty without the role `api`. */
  origin: string;
  opsUrl: string;
};

type Ready = { url: string; ops_url: string };

/** Runs `serve` with these arguments; resolves when it is ready. Throws when it ends before, or is not ready in time. */
export const startMember = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Member> => {
  const program = await startProgram<Ready>(['src/main.ts', ...args], { ...env, LOG_LEVEL: 'info' });
  return { program, origin: program.ready.url, opsUrl: program.ready.ops_url };
};

/** With these roles, as `--role` takes them. */
export const startRoles = (roles: string, env: Readonly<Record<string, string>>): Promise<Member> =>
  startMember(['serve', '--role', roles], env);
