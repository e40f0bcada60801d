import type { Send } from './state.js';

/**
 * What was found of a document: the same two facts as `Sent`. `digest` is empty when its content does not fit the digest that its
 * signature names; `contradiction` then holds both. `signatureFault`: why the authorizer's own signature around it does not hold.
 */
export type FoundDocument = {
  digest: string;
  signatureMark?: string;
  contradiction?: { claimed: string; computed: string };
  signatureFault?: string;
};

/** Its content and what its signature says of it are not the same, or one of them is missing. */
export const isContradictory = ({ digest, contradiction }: FoundDocument): boolean =>
  digest === '' || contradiction !== undefined;

/** Nobody vouches for it: it may be ours, and that it is somebody else's cannot be known (ADR 30). */
export const isDoubtful = (found: FoundDocument): boolean =>
  isContradictory(found) || found.signatureFault !== undefined;

type Sent = Pick<Send, 'digest' | 'signatureMark'>;

/**
 * Whether a document that the authorizer holds under one of our ids is among what was sent under that id. The digest says it;
 * where its key is gone the mark of the signature does. `unknown` when neither can be compared, when the document contradicts
 * itself, and when what is not ours is not signed by the authorizer: a second number could then cost a second note.
 */
export const compareSent = (sent: readonly Sent[], found: FoundDocument): Owner => {
  if (isContradictory(found)) return 'unknown';
  const owner = ownerOf(sent, found);
  return owner === 'other' && found.signatureFault !== undefined ? 'unknown' : owner;
};

export type Owner = 'ours' | 'other' | 'unknown';

const ownerOf = (sent: readonly Sent[], found: FoundDocument): Owner => {
  if (sent.some(({ digest }) => digest !== undefined && digest === found.digest)) return 'ours';
  const closed = sent.filter(({ digest }) => digest === undefined);
  if (closed.length === 0) return 'other';
  if (found.signatureMark === undefined) return 'unknown';
  if (closed.some(({ signatureMark }) => signatureMark === found.signatureMark)) return 'ours';
  return closed.every(({ signatureMark }) => signatureMark !== undefined) ? 'other' : 'unknown';
};

/** What the state keeps of a sent document. `digest` is a personal field, so it may be sealed, or be left out. */
export const sentOf = ({
  digest,
  signatureMark,
}: {
  digest?: string | undefined;
  signatureMark?: string | undefined;
}): Sent => ({
  ...(digest === undefined ? {} : { digest }),
  ...(signatureMark === undefined ? {} : { signatureMark }),
});
