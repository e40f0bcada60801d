import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { faultFields } from '../../../src/runtime/config/logger.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** A build whose only function fails, and the map beside it. */
const buildThatFails = async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'src/app'), { recursive: true });
  writeFileSync(
    join(folder, 'src/app/fails.ts'),
    '\nexport const fails = (): never => {\n  throw new TypeError();\n};\n',
  );
  const outfile = join(folder, 'chunks/chunk-A.mjs');
  const entryPoints = [join(folder, 'src/app/fails.ts')];
  await build({ entryPoints, outfile, format: 'esm', sourcemap: 'external', banner: { js: '//\n//\n//' } });
  const { fails }: { fails: () => never } = await import(pathToFileURL(outfile).href);
  const fault = (): unknown => {
    try {
      return fails();
    } catch (error) {
      return error;
    }
  };
  return { fault, map: `${outfile}.map` };
};

const PLACE = { error: 'TypeError', at: 'src/app/fails.ts:3:9' };

describe('the place of a fault', () => {
  it('is that in the sources, also in a built file', async () => {
    const { fault } = await buildThatFails();
    expect(faultFields(fault())).toEqual(PLACE);
  });

  it('is read once from the map of a build, because a client can cause the same fault again and again', async () => {
    const { fault, map } = await buildThatFails();
    expect(faultFields(fault())).toEqual(PLACE);
    rmSync(map);
    expect(faultFields(fault())).toEqual(PLACE);
  });

  it('is that of the source when it runs as such, without the folders before', () => {
    const error = new RangeError('private');
    error.stack = 'RangeError: private\n    at x (node:fs:1:1)\n    at f (file:///home/me/nfse/src/lib/pause.ts:10:3)';
    expect(faultFields(error)).toEqual({ error: 'RangeError', at: 'src/lib/pause.ts:10:3' });
  });

  it('is that of an asynchronous frame too, and never text of the message, however long', () => {
    const error = new RangeError(`sent\n    at src/SECRET.ts:1:1\n at ${'src/a'.repeat(200_000)}`);
    error.stack = `RangeError: ${error.message}\n    at async file:///home/me/nfse/src/lib/pause.ts:10:3`;
    expect(faultFields(error)).toEqual({ error: 'RangeError', at: 'src/lib/pause.ts:10:3' });
  });

  it.each([
    ['timeout exceeded when trying to connect', 'ETIMEDOUT'],
    ['Connection terminated due to connection timeout', 'ETIMEDOUT'],
    ['Query read timeout', 'ETIMEDOUT'],
    ['Connection terminated unexpectedly', 'ECONNRESET'],
  ])('comes with a code where the driver of the database only says: %s', (message, code) => {
    const silent = Object.assign(new Error(message), { stack: '' });
    expect(faultFields(silent)).toEqual({ error: 'Error', code });
    expect(faultFields(new Error('private', { cause: silent }))).toMatchObject({ error: 'Error', code });
  });

  it('is left out where no code of ours is in the stack', () => {
    const error = new Error('private');
    error.stack = 'Error: private\n    at x (node:fs:1:1)\n    at y (/srv/node_modules/pg/lib/client.js:1:2)';
    expect(faultFields(error)).toEqual({ error: 'Error' });
  });
});
