/** Thrown when the embedded server cannot run; the message is one line that names the remedy. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
