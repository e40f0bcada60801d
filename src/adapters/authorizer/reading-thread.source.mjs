import { loadFromSource } from '../../launch/from-source.mjs';

await loadFromSource('src/adapters/authorizer/reading-thread.ts');
