import type { Migration } from '../migrate.js';
import { eventLogMigration } from './0001-event-log.js';
import { guardsMigration } from './0010-guards.js';
import { vaultMigration } from './0011-vault.js';
import { projectionsMigration } from './0012-projections.js';
import { pendingCutsMigration } from './0013-pending-cuts.js';
import { projectionGenerationsMigration } from './0014-projection-generations.js';
import { relayCheckpointMigration } from './0015-relay-checkpoint.js';
import { guardsPositionMigration } from './0016-guards-position.js';
import { masterKeyGenerationsMigration } from './0017-master-key-generations.js';
import { municipalParametersMigration } from './0019-municipal-parameters.js';
import { reconciliationMigration } from './0020-reconciliation.js';
import { signingKeysMigration } from './0021-signing-keys.js';
import { parkedTapsMigration } from './0022-parked-taps.js';
import { keyUsesMigration } from './0023-key-uses.js';
import { batchedGuardsMigration } from './0024-batched-guards.js';
import { givenUpGenerationsMigration } from './0027-given-up-generations.js';
import { keyedGuardsMigration } from './0030-keyed-guards.js';
import { leastRightsMigration } from './0035-least-rights.js';
import { documentAlarmsMigration } from './0040-document-alarms.js';
import { checkedAppendMigration } from './0041-checked-append.js';

/** Forward only, in order; one that has run anywhere is never edited. */
export const migrations: readonly Migration[] = [
  eventLogMigration,
  guardsMigration,
  vaultMigration,
  projectionsMigration,
  pendingCutsMigration,
  projectionGenerationsMigration,
  relayCheckpointMigration,
  guardsPositionMigration,
  masterKeyGenerationsMigration,
  municipalParametersMigration,
  reconciliationMigration,
  signingKeysMigration,
  parkedTapsMigration,
  keyUsesMigration,
  batchedGuardsMigration,
  givenUpGenerationsMigration,
  keyedGuardsMigration,
  leastRightsMigration,
  documentAlarmsMigration,
  checkedAppendMigration,
];
