import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded before a program: kills it before the call number DIE_AT that changes something below DIE_IN.
const { DIE_IN = '', DIE_AT = '' } = process.env;
let left = Number(DIE_AT);

const step = () => {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
};

const isInside = (path) => typeof path === 'string' && path.startsWith(DIE_IN);

/** Puts a step before each call of this function of `owner`, where `isOurs` says so of its object and its arguments. */
const before = (owner, name, isOurs) => {
  const real = owner[name];
  owner[name] = function (...args) {
    if (isOurs(this, args)) step();
    return real.apply(this, args);
  };
};

const ours = new WeakSet();
const { open } = promises;
promises.open = async (path, ...how) => {
  const changes = isInside(path) && how[0] !== 'r';
  if (changes) step();
  const handle = await open(path, ...how);
  if (changes) ours.add(handle);
  return handle;
};
for (const name of ['mkdir', 'link', 'rename', 'rm', 'unlink', 'writeFile'])
  before(promises, name, (_promises, paths) => paths.some(isInside));
syncBuiltinESMExports();

const own = await open(process.execPath, 'r');
const prototype = Object.getPrototypeOf(own);
await own.close();
for (const name of ['writeFile', 'chmod', 'chown', 'sync', 'close'])
  before(prototype, name, (handle) => ours.has(handle));
