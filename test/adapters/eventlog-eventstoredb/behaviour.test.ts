import { startEventStoreDouble } from '../../support/eventstore-double/double.js';
import { realServer } from '../../support/harness/eventstore-servers.js';
import { describeWith } from '../../support/needs.js';
import { eventStoreBehaviour } from './behaviour.js';

eventStoreBehaviour('the double', startEventStoreDouble);

describeWith('eventstore', 'a real server', () => {
  eventStoreBehaviour('a real EventStoreDB', realServer);
});
