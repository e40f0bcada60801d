declare const kind: unique symbol;

/**
 * A kind of text or number that the compiler keeps apart from other kinds: an instant is no stream name, and a revision is no amount. A plain
 * text or number is taken for any kind, so code that reads a value from outside must check it.
 */
export type Branded<Base, Kind extends string> = Base & { readonly [kind]?: Kind };
