import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * The sockets of one client of NATS. The client keeps the socket of an attempt that ran out of time: a server that takes connections and stays silent
 * would then collect sockets, and each of them would hold the process. The client does not give out its socket, so Node is asked which sockets it
 * makes.
 */
type ClientSockets = {
  /** Sockets that `act` makes, at once or in what it begins, are this client's. */
  own<T>(act: () => T): T;
  /** Destroys the socket, and any that the client still makes. */
  destroy(): void;
};

type Owner = { take(socket: Socket): void };

const owners = new AsyncLocalStorage<Owner>();

export const createClientSockets = (): ClientSockets => {
  let current: Socket | undefined;
  let isOver = false;
  const owner: Owner = {
    take: (socket) => {
      // The client has one socket at a time, so a new one means that it has given up the one before.
      current?.destroy();
      current = socket;
      // Node tells of a socket before it connects, and connecting would bring a destroyed one back to life.
      if (isOver) process.nextTick(() => socket.destroy());
    },
  };
  return {
    own: (act) => owners.run(owner, act),
    destroy: () => {
      isOver = true;
      current?.destroy();
    },
  };
};

/** Node publishes each TCP socket of a client in the asynchronous context of the code that makes it. TLS is a layer over such a socket. */
subscribe('net.client.socket', (message) => {
  const socket = typeof message === 'object' && message !== null && 'socket' in message ? message.socket : undefined;
  if (socket instanceof Socket && !(socket instanceof TLSSocket)) owners.getStore()?.take(socket);
});
