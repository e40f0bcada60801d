// Runs the TypeScript of the thread from source: in Node 20 `--import tsx` reaches only the main thread.
import { register } from 'tsx/esm/api';

register();
await import('./examining-thread.ts');
