/** Thrown when a stream or consumer cannot be made or changed to what the queue needs; names what differs and what an operator can do. */
export class NatsTopologyMismatch extends Error {
  override readonly name = 'NatsTopologyMismatch';

  constructor(
    readonly what: string,
    readonly cure: string,
    readonly wasMissing: boolean,
  ) {
    super(`${what}: ${cure}`);
  }
}
