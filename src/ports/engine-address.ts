/** Thrown for an engine's address that cannot be used. The message says why and never quotes the address, which may hold a password. */
export class AddressInvalid extends Error {
  override readonly name = 'AddressInvalid';
}

/** How an engine is reached. `hosts` is empty for a unix socket. `unverified`: encrypted, but the server's identity is not checked. */
export type Transport = { hosts: readonly string[]; tls: 'none' | 'unverified' | 'verified' };
