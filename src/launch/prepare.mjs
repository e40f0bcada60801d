// After `npm ci` and `npm install`: builds the program, so that its first start compiles nothing.
import { buildDist, buildState, canBuild } from './build.mjs';

if (canBuild()) await buildDist();
else
  process.stderr.write(
    `the program was not built, because development packages are missing, which npm ci --include=dev installs; the build in dist is ${buildState()}\n`,
  );
