import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { startProgram } from '../../support/harness/processes.js';
import { itWith } from '../../support/needs.js';
import { ROOT } from '../../tools/root.js';

/** The mounts of a container of the image with `--read-only`, `--tmpfs /tmp` and a volume on /data, and a user without rights. */
const CONFINED = `
root=$1; node=$2; program=/mnt/app/\${3#"$1"}; shift 3
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /mnt
mkdir /mnt/app /mnt/data
chown 65534:65534 /mnt/data
touch /mnt/node
mount --bind "$node" /mnt/node
mount --bind "$root" /mnt/app
mount -o remount,bind,ro /mnt/app
mount -t tmpfs -o mode=1777,size=64m tmpfs /tmp
mount -o remount,bind,ro /
cd /mnt/app
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\
  /mnt/node "$program" "$@"
`;

/** The health check of the recipe, for this operations port. */
const health = (port: string): number | null => {
  const recipe = readFileSync(`${ROOT}/docs/operations/Dockerfile`, 'utf8');
  const [, words = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(recipe) ?? [];
  const [, ...args] = JSON.parse(words) as string[];
  return spawnSync(process.execPath, args, { env: { ...process.env, OPS_PORT: port } }).status;
};

itWith(
  'mounts',
  'the program needs a data folder and /tmp, and neither root nor any other place to write',
  async () => {
    const env = { NODE_ENV: 'production', DATA_DIR: '/mnt/data', HOST: '0.0.0.0', PORT: '0', OPS_PORT: '0' };
    const within = ['unshare', '--mount', 'sh', '-ec', CONFINED, 'sh', ROOT];
    const program = await startProgram<{ ops_url: string }>(['src/main.ts', 'serve'], env, within);
    try {
      const { port } = new URL(program.ready.ops_url);
      // A container is unhealthy after three failures only; a process that is busy may answer one check too late.
      await expect.poll(() => health(port)).toBe(0);
      expect(await program.stop()).toEqual({ code: 0, signal: null });
      expect(health(port)).toBe(1);
    } finally {
      await program.kill();
    }
  },
);
