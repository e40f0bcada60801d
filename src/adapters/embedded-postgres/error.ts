/** Thrown when the embedded server cannot run; the message is one line that says the cure. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
