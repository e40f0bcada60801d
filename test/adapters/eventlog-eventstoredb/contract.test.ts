import { eventLogContract } from '../../contracts/event-log.js';
import { startEventStoreDouble } from '../../support/eventstore-double/double.js';
import { engineOn, realServer } from '../../support/harness/eventstore-servers.js';
import { describeWith } from '../../support/needs.js';

eventLogContract('EventStoreDB, the double', async () => engineOn(await startEventStoreDouble(), false));

describeWith('eventstore', 'a real server', () => {
  eventLogContract('EventStoreDB, a real server', async () => engineOn(await realServer(), true));
});
