/** Thrown when a stream or consumer of our name exists and cannot be made what it has to be; names what differs. */
export class NatsTopologyMismatch extends Error {
  override readonly name = 'NatsTopologyMismatch';
}
