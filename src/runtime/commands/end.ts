const LOOK_MS = 2_000;

/**
 * To be called when a command or the service has ended. Ends the process although a connection is left that no engine closes: the client of EventStoreDB
 * keeps the socket of a TLS handshake that a hanging node never answers. Waits for a slow reader of the output.
 */
export const endOnceWritten = (): void => {
  const isWritten = (): boolean => process.stdout.writableLength === 0 && process.stderr.writableLength === 0;
  const look = (): void => {
    if (isWritten()) process.exit();
  };
  // Does not hold the process: mostly nothing is left, and the process ends before the first look.
  setInterval(look, LOOK_MS).unref();
};
