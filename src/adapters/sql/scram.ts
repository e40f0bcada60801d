import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

/** As PostgreSQL and libpq have it. */
const ROUNDS = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * The SCRAM-SHA-256 verifier of a password (RFC 5803), which PostgreSQL stores as it is sent. The password itself is in no statement, so it cannot
 * reach the server's log or pg_stat_statements.
 */
export const scramVerifier = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const salted = await promisify(pbkdf2)(prepared(password), salt, ROUNDS, KEY_BYTES, 'sha256');
  const stored = createHash('sha256').update(keyOf(salted, 'Client Key')).digest();
  const parts = [salt, stored, keyOf(salted, 'Server Key')].map((part) => part.toString('base64'));
  return `SCRAM-SHA-256$${ROUNDS}:${parts[0]}$${parts[1]}:${parts[2]}`;
};

const keyOf = (salted: Buffer, name: string): Buffer => createHmac('sha256', salted).update(name).digest();

/**
 * SASLprep (RFC 4013) without its prohibitions, exactly as the driver prepares the password of a sign-in. libpq signs in with the raw password where
 * it holds a prohibited or newer character, so the two differ only for such a password that these steps change as well.
 */
const prepared = (password: string): string =>
  password.replace(OTHER_SPACES, ' ').replace(MAPPED_TO_NOTHING, '').normalize('NFKC');

/** RFC 3454, table C.1.2. */
const OTHER_SPACES = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g;

/** RFC 3454, table B.1. An alternation, because some of these characters join with their neighbours in a class. */
const MAPPED_TO_NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g;
