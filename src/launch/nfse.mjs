#!/usr/bin/env node
// Runs the built program. A build that is missing or older than its sources is made first, or refused where the packages for it are missing.
import { buildDist, buildState, canBuild } from './build.mjs';

const refuse = (line) => {
  process.stderr.write(`${line}\n`);
  process.exitCode = 2;
};

const build = async () => {
  try {
    await buildDist();
    return true;
  } catch (error) {
    refuse(
      `the sources in src cannot be built: ${error instanceof Error ? error.message.split('\n', 2).join(' ') : String(error)}`,
    );
    return false;
  }
};

const state = buildState();
const ready =
  state === 'fresh' || (canBuild() ? await build() : refuse(`the build in dist is ${state}: run npm ci --include=dev`));
if (ready === true) await import('../../dist/src/main.js');
