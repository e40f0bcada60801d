import { startEventStoreDouble } from '../../support/eventstore-double/double.js';
import { describeWith } from '../../support/needs.js';
import { eventStoreBehaviour } from './behaviour.js';
import { realServer } from './engines.js';

eventStoreBehaviour('the double', startEventStoreDouble);

describeWith('eventstore', 'a real server', () => {
  eventStoreBehaviour('a real EventStoreDB', realServer);
});
