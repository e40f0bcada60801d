import { present } from '../../domain/common/present.js';
import type { EventStore } from '../event-store/event-store.js';
import type { LeftNote } from './adopt-note.js';
import type { HeldNotes } from './known-work.js';
import { acceptedNotes } from './recorded-recoveries.js';
import { hasChangedSince, publicIdOf, type UnknownNote } from './unknown-notes.js';

/**
 * The notes that an import holds with another amount. A client that cancels such an invoice may cancel the note of another sale, so an operator has to
 * know before the API answers again.
 */
export const importedOtherwise = async (
  notes: readonly Pick<LeftNote, 'wanted' | 'found'>[],
  held: HeldNotes,
  store: EventStore,
): Promise<readonly UnknownNote[]> => {
  const acceptanceOf = await acceptedNotes(store);
  const others: UnknownNote[] = [];
  for (const { wanted, found } of notes) {
    const { mode, companyId, series } = wanted;
    const { accessKey, authorizedAt, content } = found.note;
    const note = { mode, companyId, accessKey, amount: content.amount };
    const one = held.importOfOtherAmount(note);
    const id = publicIdOf(one?.stream);
    if (one === undefined || id === undefined) continue;
    const acceptance = acceptanceOf(note);
    const isDecided = acceptance !== undefined && !(await hasChangedSince(one.stream, acceptance.at, store));
    const place = { series, number: found.number, authorizedAt, importedAs: { id, amount: one.amount } };
    others.push(present({ ...note, ...place, accepted: isDecided ? acceptance : undefined }));
  }
  return others;
};
