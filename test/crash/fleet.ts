import { roles as allRoles, type Role } from '../../src/runtime/config/config.js';
import { type Member, startMember } from '../support/harness/members.js';
import type { Death } from '../support/harness/processes.js';
import type { Command } from './containers.js';
import type { Seeded } from './seeded.js';

/** `kill` gives no warning, `drain` asks it to stop, `freeze` stops it in the middle while its connections stand. */
export const MISHAPS = ['kill', 'drain', 'freeze'] as const;
export type Mishap = (typeof MISHAPS)[number];

export type Fleet = {
  /** Of every api that runs. */
  origins(): readonly string[];
  /** Hits one of the two processes of the role; a new process replaces one that has ended. */
  apply(mishap: Mishap, role: Role): Promise<void>;
  /** Lets the frozen process continue. */
  thaw(): void;
  /** How often each befell each role. */
  counts: Readonly<Record<Mishap, Readonly<Record<Role, number>>>>;
  /** Unexpected ends of processes, and drains that did not end with 0. */
  wrongEnds: readonly string[];
  close(): Promise<void>;
};

type Crew = Member & { role: Role; frozen: boolean };

const none = (): Record<Role, number> => ({ api: 0, projector: 0, relay: 0, issuer: 0, sweeper: 0 });

/** Two processes of each role over the same engines; `random` chooses the victims. */
export const startFleet = async (commandOf: (role: Role) => Command, random: Seeded): Promise<Fleet> => {
  const crew: Crew[] = [];
  const counts = { kill: none(), drain: none(), freeze: none() };
  const wrongEnds: string[] = [];
  let closing = false;

  const start = async (role: Role): Promise<void> => {
    const { args, env } = commandOf(role);
    const member = { ...(await startMember(args, env)), role, frozen: false };
    crew.push(member);
    void member.program.ended.then((death) => {
      if (closing || !crew.includes(member)) return;
      crew.splice(crew.indexOf(member), 1);
      wrongEnds.push(`${role} by itself: ${textOf(death)} ${member.program.complaint()}`);
    });
  };

  const drain = async ({ role, program }: Crew): Promise<void> => {
    const death = await program.stop();
    if (death.code !== 0) wrongEnds.push(`${role} told to stop: ${textOf(death)} ${program.complaint()}`);
  };

  for (const role of allRoles) await Promise.all([start(role), start(role)]);
  return {
    origins: () => crew.flatMap(({ origin, frozen }) => (origin === '' || frozen ? [] : [origin])),
    apply: async (mishap, role) => {
      const able = crew.filter((member) => member.role === role && !member.frozen);
      const victim = able[random.below(able.length)];
      if (victim === undefined) throw new Error(`nobody is left of ${role}`);
      counts[mishap][role] += 1;
      if (mishap === 'freeze') {
        victim.frozen = true;
        victim.program.signal('SIGSTOP');
        return;
      }
      crew.splice(crew.indexOf(victim), 1);
      await (mishap === 'kill' ? victim.program.kill() : drain(victim));
      await start(role);
    },
    thaw: () => {
      for (const member of crew) {
        member.program.signal('SIGCONT');
        member.frozen = false;
      }
    },
    counts,
    wrongEnds,
    close: async () => {
      closing = true;
      await Promise.all(crew.map(({ program }) => program.kill()));
    },
  };
};

const textOf = ({ code, signal }: Death): string => `${code ?? signal}`;
