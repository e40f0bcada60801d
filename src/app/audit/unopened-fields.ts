import type { SealedTextChanged } from '../../ports/sealing-keys.js';
import { MAX_FINDINGS } from './finding.js';

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
