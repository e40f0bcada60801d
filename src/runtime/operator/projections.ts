import { allProjections } from '../../../projections/registry.js';
import type { Projection } from '../../../projections/types.js';
import { guardsOfAnotherLog, isIssuingPaused } from '../../adapters/guards-postgres/incomplete-log.js';
import { shareOf } from '../../app/event-store/walk-log.js';
import type { ProjectionOperations, RebuildResult } from '../../cli/session.js';
import type { Clock } from '../../ports/clock.js';
import { identityIfGiven } from '../../ports/event-log.js';
import type { CatchUpDeps, Progress } from '../../projector/catch-up.js';
import { generationRecords } from '../../projector/checkpoints.js';
import { logText, otherLogText } from '../../projector/projector.js';
import {
  type RebuildOutcome,
  rebuildProjection,
  remakeProjection,
  rollbackProjection,
} from '../../projector/rebuild.js';
import { projectionStatus } from '../../projector/status.js';
import type { Engines } from '../engines/engines.js';
import { RECONCILE } from '../engines/pause-text.js';
import { headAndPlaces } from './checks.js';

/** `remake` is for log recovery alone: it rebuilds from nothing and keeps no earlier generation. */
type Operations = ProjectionOperations & { remake: ProjectionOperations['rebuild'] };

/** The operations on this program's projections that commands and console offer, and those of log recovery. */
export const projectionOperations = (
  { pool: db, log }: Pick<Engines, 'pool' | 'log'>,
  clock: Clock,
  stopping: AbortSignal = NEVER,
): Operations => {
  const refusal: Operations['refusal'] = (namedLog) => refusalOf({ db, log }, namedLog);
  const run =
    (work: typeof rebuildProjection, refuse: Operations['refusal']): Operations['remake'] =>
    async (name, onProgress, namedLog) => {
      const projection = allProjections.find((one) => one.name === name);
      if (projection === undefined) return { refused: `there is no projection ${name}` };
      const why = await refuse(namedLog);
      if (why !== undefined) return { refused: why };
      const deps: CatchUpDeps = { db, log, clock, onProgress: (progress) => onProgress(shareOfProgress(progress)) };
      return resultOf(projection, await work(projection, stopping, deps));
    };
  return {
    names: allProjections.map(({ name }) => name),
    status: () => projectionStatus(allProjections, { db, log, clock }),
    refusal,
    rebuild: run(rebuildProjection, refusal),
    rollback: run(rollbackProjection, refusal),
    remake: run(remakeProjection, async () => undefined),
  };
};

/** Why no rows may be made again. Positions are compared too: only a process records a pause, and none may have run over an older log yet. */
const refusalOf = async (
  { db, log }: Pick<CatchUpDeps, 'db' | 'log'>,
  namedLog: string | undefined,
): Promise<string | undefined> => {
  const identity = await identityIfGiven(log);
  if (namedLog !== undefined)
    return namedLog === identity ? undefined : `${logText(identity)}, not ${namedLog}: nothing was changed`;
  const rows = (await generationRecords(db)).find(
    ({ role, position, logIdentity }) => role === 'live' && position !== null && logIdentity !== identity,
  );
  const other = rows?.logIdentity ?? (await guardsOfAnotherLog(db, identity));
  if (other !== undefined) return `the database was made from log ${other}, but ${otherLogText(identity)}`;
  if (identity === undefined) return undefined;
  const [, isOfThisLog] = await headAndPlaces({ pool: db, log });
  if (!isOfThisLog) return `the log is older than the database, ${EVIDENCE}`;
  if (log.remembered === undefined || !(await isIssuingPaused(db, identity))) return undefined;
  return `issuing is paused, ${EVIDENCE}`;
};

const EVIDENCE = `and the rows show what the log has lost: ${RECONCILE}, which makes them again`;

/** An interrupted command ends with its process; the next run continues from the build's checkpoint. */
const NEVER = new AbortController().signal;

const shareOfProgress = ({ name, position, head, events }: Progress) => ({
  name,
  share: shareOf(position, head),
  events,
});

const resultOf = ({ name, version }: Projection, outcome: RebuildOutcome): RebuildResult => {
  switch (outcome.kind) {
    case 'live': {
      const { kind: _kind, ...done } = outcome;
      return { done: { name, ...done } };
    }
    case 'busy':
      return { refused: `${name} is being rebuilt by another process: nfse projections status` };
    case 'stopped':
      return { refused: `the rebuild of ${name} lost its lock: start it again, it continues where it stopped` };
    case 'halted': {
      const { stream, revision, type, reason } = outcome.halt;
      return { refused: `${name} cannot apply ${type} (${stream}@${revision}): ${reason}` };
    }
    case 'newer':
      return {
        refused: `${name} is at version ${outcome.version} and this program makes version ${version}: use the newer program, or projections rollback`,
      };
    case 'no_previous':
      return { refused: `${name} has no earlier generation to go back to` };
    case 'other_version':
      return {
        refused: `the earlier generation of ${name} is of version ${outcome.version}, which this program (version ${version}) cannot bring up to date: stop the projectors and roll back with the program of that version`,
      };
    case 'other_log':
      return { refused: `the earlier generation of ${name} was made from another log` };
    case 'beyond_log':
      return {
        refused: `the earlier generation of ${name} holds events that the log has lost: ${RECONCILE}`,
      };
  }
};
