import { loadFromSource } from '../../launch/from-source.mjs';

await loadFromSource('src/runtime/engines/simulator-child.ts');
