import type { Json, RecordedEvent } from '../../ports/event-log.js';
import type { SealedTextChanged, SealingKeys } from '../../ports/sealing-keys.js';
import { openOwnField, sealedFieldsOf } from '../event-store/codec.js';
import { MAX_FINDINGS } from './finding.js';

/** What the sealed fields of an event hold, by name. `changed`: a field that cannot be opened although its key is there. */
export type OpenedFields = ReadonlyMap<string, { value: Json } | 'no key' | 'changed'>;

/** Opens every sealed field of an event; `onFault` gets those that cannot be opened although their key is there. */
export const openFields = async (
  recorded: RecordedEvent,
  keys: SealingKeys,
  onFault: (fault: SealedTextChanged) => void,
): Promise<OpenedFields> => {
  const opened = new Map<string, { value: Json } | 'no key' | 'changed'>();
  for (const sealed of sealedFieldsOf(recorded)) {
    const value = await openOwnField(recorded, sealed, keys, (fault) => {
      opened.set(sealed.field, 'changed');
      onFault(fault);
    });
    if (!opened.has(sealed.field)) opened.set(sealed.field, value === undefined ? 'no key' : { value });
  }
  return opened;
};

/** Collects what a command could not open and went past. The first faults are kept and the rest counted, so that memory stays bounded. */
export type UnopenedFields = {
  add(fault: SealedTextChanged): void;
  /** For a person, each with stream and revision; empty when every field was opened. */
  lines(): readonly string[];
};

export const createUnopenedFields = (): UnopenedFields => {
  const kept: string[] = [];
  let more = 0;
  return {
    add: ({ message }) => {
      if (kept.length < MAX_FINDINGS) kept.push(message);
      else more += 1;
    },
    lines: () => (more === 0 ? kept : [...kept, `and ${more} more`]),
  };
};
