import type { Send } from './state.js';

/**
 * What was found of a document: the same two facts as `Sent`. `digest` is empty when its content does not fit the digest that its
 * signature names; `contradiction` then holds both.
 */
export type FoundDocument = {
  digest: string;
  signatureMark?: string;
  contradiction?: { claimed: string; computed: string };
};

type Sent = Pick<Send, 'digest' | 'signatureMark'>;

/**
 * Whether a document that the authorizer holds under one of our ids is among what was sent under that id. The digest says it;
 * where its key is gone the mark of the signature does. `unknown` when neither can be compared, or when only one half of a
 * contradiction is ours: nothing may be concluded then.
 */
export const compareSent = (sent: readonly Sent[], found: FoundDocument): 'ours' | 'other' | 'unknown' => {
  if (sent.some(({ digest }) => digest !== undefined && digest === found.digest)) return 'ours';
  const closed = sent.filter(({ digest }) => digest === undefined);
  const { contradiction } = found;
  if (
    sent.some(
      ({ digest }) => digest !== undefined && (digest === contradiction?.claimed || digest === contradiction?.computed),
    )
  )
    return 'unknown';
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
