import { loadFromSource } from '../../launch/from-source.mjs';

await loadFromSource('src/runtime/operator/examining-thread.ts');
