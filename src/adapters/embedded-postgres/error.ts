/** Thrown when the embedded server cannot run; the message is one line that names the remedy. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Thrown when the data folder takes no file of this user; the message is one line that names the remedy. No wait for another process helps. */
export class DataDirUnwritable extends Error {
  override readonly name = 'DataDirUnwritable';
}
