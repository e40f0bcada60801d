import { appendAudit } from '../../app/audit/audit-trail.js';
import type { BuildingStatus, ProjectionStatus } from '../../ports/projection-status.js';
import { badUsage, type Command, done, type Outcome, refused, textFlag } from '../command.js';
import { withProgress } from '../progress.js';
import { auditDeps, type ProjectionOperations, type RebuildResult } from '../session.js';
import type { Terminal } from '../terminal.js';

const status: Command = {
  name: 'projections status',
  summary: 'version, generation and lag of each projection, and what is being rebuilt',
  changes: false,
  run: async ({ session }) => {
    const all = await (await session(ANY_LOG)).projections.status();
    return done(all.map(lineOf).join('\n'), { projections: all.map(jsonOf) });
  },
};

const rebuild: Command = {
  name: 'projections rebuild',
  positionals: ['[NAME]'],
  summary: 'build a projection again beside the one that is read, then swap; the service keeps running',
  options: {
    all: { help: 'every projection, one after the other' },
    log: {
      value: 'VALUE',
      help: 'identity of the log: make the rows from it although they are of another log, or issuing over it is paused',
    },
  },
  changes: true,
  run: async ({ positionals: [name], flags, actor, session, terminal }) => {
    if ((name === undefined) === (flags.all !== true)) return badUsage('nfse projections rebuild NAME, or --all');
    const opened = await session(ANY_LOG);
    const { projections } = opened;
    if (name !== undefined && !projections.names.includes(name)) return unknown(name, projections);
    // Before the order is recorded, because the log may be another one.
    const namedLog = textFlag(flags, 'log');
    const why = await projections.refusal(namedLog);
    if (why !== undefined) return refused(why);
    const results: RebuildResult[] = [];
    const deps = auditDeps(opened, actor);
    for (const one of name === undefined ? projections.names : [name]) {
      await appendAudit('ProjectionRebuildOrdered', { projection: one }, deps);
      results.push(await shown(terminal, (onProgress) => projections.rebuild(one, onProgress, namedLog)));
    }
    return outcomeOf('rebuilt', actor, results);
  },
};

const rollback: Command = {
  name: 'projections rollback',
  positionals: ['NAME'],
  summary: 'go back to the generation before the live one, brought up to date first',
  changes: true,
  run: async ({ positionals: [name = ''], actor, session, terminal }) => {
    const opened = await session();
    const { projections } = opened;
    if (!projections.names.includes(name)) return unknown(name, projections);
    const why = await projections.refusal();
    if (why !== undefined) return refused(why);
    await appendAudit('ProjectionRollbackOrdered', { projection: name }, auditDeps(opened, actor));
    const result = await shown(terminal, (onProgress) => projections.rollback(name, onProgress));
    return outcomeOf('rolled_back', actor, [result]);
  },
};

export const projectionCommands: readonly Command[] = [status, rebuild, rollback];

/** A rebuild repairs rows of another log, and the status shows its progress. */
const ANY_LOG = { readModelOfAnyLog: true } as const;

const unknown = (name: string, { names }: ProjectionOperations): Outcome =>
  refused(`there is no projection ${name}: ${names.join(', ')}`);

const shown = (
  terminal: Terminal,
  work: (onProgress: Parameters<ProjectionOperations['rebuild']>[1]) => Promise<RebuildResult>,
): Promise<RebuildResult> =>
  withProgress(terminal, async (progress) => {
    const result = await work(({ name, share, events }) => progress(name, share, `${events} events`));
    if ('done' in result) progress(result.done.name, 1, `${result.done.events} events`);
    return result;
  });

/** Successful projections are reported also when others failed. */
const outcomeOf = (what: 'rebuilt' | 'rolled_back', actor: string, results: readonly RebuildResult[]): Outcome => {
  const good = results.flatMap((result) => ('done' in result ? [result.done] : []));
  const bad = results.flatMap((result) => ('refused' in result ? [result.refused] : []));
  const json = {
    actor,
    [what]: good.map(({ position, ...rest }) => ({ ...rest, position: textOf(position) })),
    error: bad.length === 0 ? undefined : bad.join('; '),
  };
  const lines = good.map(
    ({ name, version, generation, events }) =>
      `${name}: generation ${generation} of version ${version} is live (${events} events folded)`,
  );
  return { exit: bad.length === 0 ? 0 : 1, text: [...lines, ...bad].join('\n'), json };
};

const textOf = (position: bigint | null): string | null => (position === null ? null : String(position));

const lineOf = ({ name, version, generation, position, lagSeconds, rebuilding, previous }: ProjectionStatus): string =>
  [
    `${name.padEnd(16)} v${version} generation ${generation} at ${textOf(position) ?? 'the beginning'}, ${Math.round(lagSeconds)} s behind`,
    ...(rebuilding === undefined ? [] : [buildingText(rebuilding)]),
    ...(previous === undefined ? [] : [`rollback to v${previous.version} generation ${previous.generation}`]),
  ].join('; ');

const buildingText = ({ version, generation, progress, running }: BuildingStatus): string =>
  `rebuilding v${version} generation ${generation}: ${Math.floor(progress * 100)} %${running ? '' : ', interrupted'}`;

const jsonOf = ({ lagSeconds, position, rebuilding, ...rest }: ProjectionStatus) => ({
  ...rest,
  position: textOf(position),
  lag_s: lagSeconds,
  rebuilding: rebuilding && { ...rebuilding, position: textOf(rebuilding.position) },
});
