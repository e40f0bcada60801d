import { roles as allRoles, type Role } from '../../src/runtime/config.js';
import { type Program, startProgram } from '../support/crash-processes.js';

/** Where a client finds the api of this member; undefined while it is down, or when it is none. */
type Member = { role: Role; program: Program; origin: string | undefined };

export type Fleet = {
  /** Of every api that runs, at least one but for moments. */
  origins(): readonly string[];
  /** Ends one process of the role without warning and starts another in its place. */
  replace(role: Role): Promise<void>;
  kills: Readonly<Record<Role, number>>;
  close(): Promise<void>;
};

/** Two processes of each role over the same engines, as the containers of compose.yaml run them. */
export const startFleet = async (env: Readonly<Record<string, string>>): Promise<Fleet> => {
  const members: Member[] = [];
  const kills: Record<Role, number> = { api: 0, projector: 0, relay: 0, issuer: 0, sweeper: 0 };
  const start = async (role: Role): Promise<Member> => {
    const program = await startProgram<{ url: string }>(['src/main.ts', 'serve', '--role', role], {
      ...env,
      LOG_LEVEL: 'info',
    });
    return { role, program, origin: role === 'api' ? program.ready.url : undefined };
  };
  for (const role of allRoles) members.push(...(await Promise.all([start(role), start(role)])));
  return {
    origins: () => members.flatMap(({ origin }) => origin ?? []),
    replace: async (role) => {
      const at = members.findIndex((member) => member.role === role);
      const [victim] = members.splice(at, 1);
      await victim?.program.kill();
      kills[role] += 1;
      members.push(await start(role));
    },
    kills,
    close: async () => {
      await Promise.all(members.map(({ program }) => program.kill()));
    },
  };
};
