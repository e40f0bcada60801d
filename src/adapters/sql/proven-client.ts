import pg from 'pg';
import { databaseTransport } from './address.js';
import { type ProofMissing, ServerUnproven } from './errors.js';

/** The parameter of libpq by which an address demands the proof; the embedded server's address has it. */
export const DEMANDS_PROOF = 'require_auth=scram-sha-256';

/**
 * The client class for an address from `readDatabaseUrl`. Verified TLS proves whose server answers. Without it SCRAM-SHA-256 has to, in which both
 * sides prove their knowledge and the password stays here: any user of this machine may listen on a port that a server has left. A server that asks
 * for nothing gets no password, and is believed where the address does not demand the proof.
 */
export const clientClassFor = (address: string): typeof pg.Client => {
  if (address.includes(DEMANDS_PROOF)) return ProvenServerClient;
  return databaseTransport(address).tls === 'verified' ? pg.Client : SecretKeepingClient;
};

/** A class, because pools make their clients by `new`. */
class ProvenServerClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    filterMessages(this, true);
  }
}

class SecretKeepingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    filterMessages(this, false);
  }
}

/** The messages of SCRAM-SHA-256 in their order. The driver checks their content, the server's signature in the last one included. */
const EXCHANGE: readonly unknown[] = ['authenticationSASL', 'authenticationSASLContinue', 'authenticationSASLFinal'];

const OTHER_REQUESTS: ReadonlyMap<unknown, ProofMissing> = new Map<unknown, ProofMissing>([
  ['authenticationCleartextPassword', 'PASSWORD_ASKED_IN_CLEAR'],
  ['authenticationMD5Password', 'PASSWORD_ASKED_AS_MD5'],
]);

/**
 * The driver answers each of these at any time, obeys a server that skips them, and takes one whose proof failed for connected when that server says
 * so. Its messages therefore pass here until the server has let the client in. Then its listeners for these are removed, because a line that is
 * tapped may ask for the password later.
 */
const filterMessages = ({ connection }: pg.Client, isProofOwed: boolean): void => {
  const { emit } = connection;
  let proven = 0;
  let isOver = false;

  const faultOf = (event: string | symbol): ProofMissing | undefined => {
    if (EXCHANGE.includes(event)) return EXCHANGE[proven] === event ? undefined : 'NO_PROOF_OF_PASSWORD';
    if (event === 'authenticationOk')
      return proven === EXCHANGE.length || (proven === 0 && !isProofOwed) ? undefined : 'NO_PROOF_OF_PASSWORD';
    return event === 'readyForQuery' ? 'NO_PROOF_OF_PASSWORD' : OTHER_REQUESTS.get(event);
  };

  connection.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    const pass = (): boolean => emit.call(connection, event, ...values);
    if (isOver) return (event === 'error' || event === 'end') && pass();
    const fault = faultOf(event);
    if (fault !== undefined || event === 'error' || event === 'errorMessage') isOver = true;
    if (fault !== undefined) {
      connection.stream.destroy(new ServerUnproven(fault));
      return true;
    }
    if (EXCHANGE.includes(event)) proven += 1;
    if (event === 'authenticationOk') {
      for (const name of [...EXCHANGE, ...OTHER_REQUESTS.keys()]) connection.removeAllListeners(String(name));
      connection.emit = emit;
    }
    const isHeard = pass();
    if (isOver) connection.stream.destroy();
    return isHeard;
  };
};
