import { startEventStoreDouble } from '../../support/eventstore-double/double.js';
import { serveParent } from '../child.js';

/** The double of EventStoreDB, which keeps its log in the memory of this process; answers with its address. */
await serveParent<null, never>(async () => {
  const double = await startEventStoreDouble();
  return { ready: double.url, close: double.close };
});
