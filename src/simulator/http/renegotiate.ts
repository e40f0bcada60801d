import { constants } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

/** Refuses to resume a session when renegotiating: a resumed one would bring no certificate. TLS 1.3 cannot renegotiate. */
export const RENEGOTIATING = {
  maxVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
} as const;

const asked = new WeakMap<TLSSocket, Promise<void>>();

/**
 * Asks for the client's certificate by a second handshake on the open connection, as the web server in front of Sefin does
 * once it has read the request (domain.md section 2). Once per connection; rejects when the client does not go along.
 */
export const askForCertificate = (socket: TLSSocket): Promise<void> => {
  const asking = asked.get(socket) ?? renegotiate(socket);
  asked.set(socket, asking);
  return asking;
};

const renegotiate = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the client went away'));
    socket.once('close', gone);
    socket.renegotiate({ requestCert: true, rejectUnauthorized: false }, (error) => {
      socket.off('close', gone);
      if (error === null) resolve();
      else reject(error);
    });
  });
