import { evolveEntry, type RegistryEvent } from '../../src/domain/registry/entry.js';
import type { Handlers } from '../types.js';
import type { RegistryRow } from './schema.js';

export const handlers = {
  RegistryEntryPut: (_row, event) => ({
    cnpj: event.data.cnpj,
    revision: event.revision,
    entry: JSON.stringify(evolveEntry(undefined, event)),
  }),
} satisfies Handlers<RegistryRow, RegistryEvent>;
