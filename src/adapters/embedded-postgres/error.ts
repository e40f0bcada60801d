/** Thrown when the embedded server cannot run; the message is one line that names the remedy. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Thrown when the data folder takes no file of this user; the message is one line that names the remedy. No wait for another process helps. */
export class DataDirUnwritable extends Error {
  override readonly name = 'DataDirUnwritable';
}

/** Thrown to a command when the database of the service that runs on the data folder does not answer; the message is one line that names the remedy. */
export class EmbeddedPostgresSilent extends Error {
  override readonly name = 'EmbeddedPostgresSilent';
}
