import { serveParent } from './child.js';
import { groups } from './groups.js';

/** One group of the bench in a process with another environment. */
await serveParent<string, 'rows'>(async (name) => ({
  ready: null,
  answer: async () => (await groups[name]?.run({}))?.rows ?? [],
  close: async () => {},
}));
