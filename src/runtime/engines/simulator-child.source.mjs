// Runs the TypeScript of the process from source, whatever flags the service was started with.
import { register } from 'tsx/esm/api';

register();
await import('./simulator-child.ts');
