import { loadFromSource } from '../../launch/from-source.mjs';

await loadFromSource('src/adapters/pdf/worker.ts');
