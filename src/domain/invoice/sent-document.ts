/**
 * A document that a look-up found: the same two facts as `Sent`. `digest` is empty when the content does not fit the digest in its
 * signature; `contradiction` then holds both digests. `misfit`: the note cannot have been made of the DPS inside, because its key or its time does
 * not fit (ADR 30). `signatureFault`: why the authorizer's signature around the document does not hold.
 */
export type FoundDocument = {
  digest: string;
  signatureMark?: string;
  contradiction?: { claimed: string; computed: string };
  misfit?: true;
  signatureFault?: string;
};

/** True when the content does not match its own signature, or one of the two is missing, and for a misfit. */
export const isContradictory = ({ digest, contradiction, misfit }: FoundDocument): boolean =>
  digest === '' || contradiction !== undefined || misfit === true;

/** True when the document cannot be trusted: it may be ours, and cannot be shown to be foreign (ADR 30). */
export const isDoubtful = (found: FoundDocument): boolean =>
  isContradictory(found) || found.signatureFault !== undefined;

/** `digest` is a personal field, so it may be sealed or missing. */
type Sent = { digest?: string | undefined; signatureMark?: string | undefined };

/**
 * Whether a document under one of our ids is among what was sent under that id. The digest decides; where its key is gone, the signature mark
 * does. `unknown` when neither can be compared, when the document contradicts itself, and when a foreign document lacks the authorizer's
 * signature: a second number could then cost a second note.
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
