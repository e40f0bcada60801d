import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { issueCertificate } from '../../certificates/issue-certificate.js';
import { makeFolders, writeWhole } from '../../lib/files.js';
import type { Clock } from '../../ports/clock.js';
import { hasAuthority, simulatorAuthority } from '../../simulator/authority.js';

/** Thrown when creating missing secrets would make existing ones useless. The message says what to restore or to name. */
export class SecretsIncomplete extends Error {
  override readonly name = 'SecretsIncomplete';
}

/** Files that only work together, as paths below the folder of all secrets. */
type Group = { files: readonly string[]; make(clock: Clock): Readonly<Record<string, string>> };

const MASTER_KEY = 'nfse/master.key';
const SIMULATOR_CA = 'engines/simulator-ca.pem';
const POSTGRES_PASSWORD = 'postgres/password';
const ADMIN_URL = 'owner/admin-url';

/** Where compose.yaml mounts the folder `engines` in the service. */
const MOUNTED = '/run/secrets/engines';
const TEN_YEARS = 3650;

const password = (): string => randomBytes(24).toString('hex');
const line = (text: string): string => `${text}\n`;

const databaseUrl = (user: string, secret: string): string => `postgres://${user}:${secret}@postgres:5432/nfse`;

const alone = (file: string, text: () => string): Group => ({
  files: [file],
  make: () => ({ [file]: line(text()) }),
});

const groups: readonly Group[] = [
  // First, because without it no other secret is created.
  alone(MASTER_KEY, () => randomBytes(32).toString('base64')),
  alone('nfse/operator-token', password),
  alone('metrics/token', password),
  alone(POSTGRES_PASSWORD, password),
  // `nfse setup database` gives the roles these passwords.
  alone('engines/database-url', () => databaseUrl('nfse_service', password())),
  alone('owner/owner-url', () => databaseUrl('nfse_owner', password())),
  {
    files: ['nats/nats.conf', 'engines/nats-url'],
    make: () => {
      const secret = password();
      return {
        'nats/nats.conf': line(`authorization { user: nfse, password: "${secret}" }`),
        'engines/nats-url': line(`nats://nfse:${secret}@nats:4222`),
      };
    },
  },
  alone('eventstore/admin-password', password),
  alone('eventstore/ops-password', password),
  alone(
    'engines/eventstore-url',
    () => `esdb://nfse:${password()}@eventstore:2113?tls=true&tlsCAFile=${MOUNTED}/eventstore-ca.pem`,
  ),
  {
    files: ['eventstore/node.key', 'eventstore/node.crt', 'eventstore/ca/ca.crt', 'engines/eventstore-ca.pem'],
    make: (clock) => {
      const request = { organization: 'NFS-e', validDays: TEN_YEARS, now: clock.now() };
      // The authority's key is discarded, so that no other server can be certified for the service to trust.
      const authority = issueCertificate({ ...request, subjectName: 'NFS-e EventStoreDB CA' });
      const serverNames = ['eventstore', 'localhost', '127.0.0.1'];
      const node = issueCertificate({ ...request, subjectName: 'eventstoredb-node', issuer: authority, serverNames });
      return {
        'eventstore/node.key': node.privateKeyPem,
        'eventstore/node.crt': node.certificatePem,
        'eventstore/ca/ca.crt': authority.certificatePem,
        'engines/eventstore-ca.pem': authority.certificatePem,
      };
    },
  },
];

/** The image of PostgreSQL runs as another user, who is in the group of these files. */
const modesOf = (file: string): { file: number; folder: number } =>
  file.startsWith('postgres/') ? { file: 0o640, folder: 0o750 } : { file: 0o600, folder: 0o700 };

/** Makes the secrets of compose.yaml that are missing, one folder per reader, and changes none. Returns the new files; throws `SecretsIncomplete`. */
export const makeEngineSecrets = async (
  folder: string,
  simulatorFolder: string | undefined,
  clock: Clock,
): Promise<readonly string[]> => {
  if (simulatorFolder !== undefined) refuseParent(simulatorFolder);
  const made = [...(await moveOlder(folder))];
  const missing = missingOf(folder);
  for (const { files, make } of groups) {
    if (!files.some((file) => missing.has(file))) continue;
    for (const [file, text] of Object.entries(make(clock))) {
      await writeSecret(folder, file, text);
      made.push(file);
    }
  }
  // The administrator is the user that the server's image creates at its first start, with this password.
  const admin = databaseUrl('nfse', (await readText(join(folder, POSTGRES_PASSWORD)))?.trim() ?? '');
  const derived = [{ file: ADMIN_URL, text: line(admin) }];
  if (simulatorFolder !== undefined)
    derived.push({ file: SIMULATOR_CA, text: await simulatorAuthority(simulatorFolder, clock) });
  for (const { file, text } of derived) {
    if ((await readText(join(folder, file))) === text) continue;
    await writeSecret(folder, file, text);
    made.push(file);
  }
  // Left by a version whose service was the administrator.
  await rm(join(folder, 'nfse/database-url'), { force: true });
  return made;
};

/** The folder above the simulator's would get a second authority, which signs nothing that the service meets. */
const refuseParent = (folder: string): void => {
  const meant = join(folder, 'simulator');
  if (hasAuthority(meant))
    throw new SecretsIncomplete(`the simulator's authority is in ${meant}: give --simulator ${meant}`);
};

/** Files that older versions kept beside the master key, where a reader of one file could read all. */
const MOVED = ['eventstore-url', 'eventstore-ca.pem', 'nats-url', 'simulator-ca.pem'];

/** Copies before it removes, because source and target may be different volumes. */
const moveOlder = async (folder: string): Promise<readonly string[]> => {
  const moved: string[] = [];
  for (const name of MOVED) {
    const [from, to] = [join(folder, 'nfse', name), `engines/${name}`];
    const text = await readText(from);
    if (text === undefined) continue;
    if (!existsSync(join(folder, to))) {
      await writeSecret(folder, to, text.replace('/run/secrets/nfse/', `${MOUNTED}/`));
      moved.push(to);
    }
    await rm(from);
  }
  return moved;
};

/** All files are checked before any is created. */
const missingOf = (folder: string): ReadonlySet<string> => {
  const all = groups.flatMap(({ files }) => files);
  const missing = new Set(all.filter((file) => !existsSync(join(folder, file))));
  if (missing.has(MASTER_KEY) && missing.size < all.length) {
    throw new SecretsIncomplete(`${MASTER_KEY} is missing and other secrets are there: restore it from your copy`);
  }
  for (const { files } of groups) {
    const gone = files.filter((file) => missing.has(file));
    if (gone.length === 0 || gone.length === files.length) continue;
    const left = files.filter((file) => !missing.has(file));
    throw new SecretsIncomplete(
      `${gone.join(', ')} missing: restore it, or remove ${left.join(', ')} too, and all of them are created again`,
    );
  }
  return missing;
};

const readText = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

const writeSecret = async (folder: string, file: string, text: string): Promise<void> => {
  const path = join(folder, file);
  const modes = modesOf(file);
  await makeFolders(dirname(path), modes.folder);
  await writeWhole(path, text, modes.file);
};
