import type { QueueFault } from '../../ports/work-queue.js';

type Told = { what: string; cure: string };

/** What a start and doctor say of a fault of NATS. */
export const QUEUE_FAULTS: Readonly<Record<QueueFault, Told>> = {
  unavailable: { what: 'the work queue cannot be reached', cure: 'check NATS_URL and the NATS server' },
  refused: {
    what: 'NATS refuses this user',
    cure: 'check user and password in NATS_URL, and what the NATS server permits the user',
  },
  untrusted: {
    what: 'the TLS of NATS is not trusted, or the server has none',
    cure: 'check tls:// and the host name in NATS_URL, and name a private authority in NODE_EXTRA_CA_CERTS',
  },
  without_jetstream: {
    what: 'NATS gives this user no JetStream',
    cure: 'switch JetStream on in the NATS server, and for the account of the user in NATS_URL',
  },
};
