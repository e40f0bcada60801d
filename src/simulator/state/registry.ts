import { rename, writeFile } from 'node:fs/promises';
import { readIfThere } from '../../lib/files.js';
import { isUnregistered } from '../test-values.js';
import type { Company, Municipality, Person } from './entries.js';

/** The registries as the rules read them. A missing entry is an empty one: the rules that need its members do not apply. */
export type Registers = {
  municipality(ibge: string): Municipality;
  company(cnpj: string): Company;
  person(cpf: string): Person;
};

/** Registries of one environment: convênio and parameters per municipality; CNPJ, CPF, CNC and tax regime per party. */
export type Registry = Registers & {
  /** Merges into the entries and resolves when they are on disk. */
  change(change: RegistryChange): Promise<void>;
  /** Removes all entries and resolves when that is on disk. */
  clear(): Promise<void>;
};

export type RegistryChange = {
  municipality?: { ibge: string } & Municipality;
  company?: { cnpj: string } & Company;
  person?: { cpf: string } & Person;
};

type Content = {
  municipalities: Record<string, Municipality>;
  companies: Record<string, Company>;
  persons: Record<string, Person>;
};

/** Opens the registries at `path` (JSON); a missing file means no entries. */
export const openRegistry = async (path: string): Promise<Registry> => {
  let content = await load(path);
  let saving: Promise<void> = Promise.resolve();
  const keep = (): Promise<void> => {
    saving = saving.catch(() => undefined).then(() => save(path, JSON.stringify(content)));
    return saving;
  };
  return {
    municipality: (ibge) => content.municipalities[ibge] ?? {},
    company: (cnpj) => content.companies[cnpj] ?? builtIn(cnpj),
    person: (cpf) => content.persons[cpf] ?? builtIn(cpf),
    change: ({ municipality, company, person }) => {
      if (municipality !== undefined) {
        const { ibge, ...entry } = municipality;
        content.municipalities[ibge] = { ...content.municipalities[ibge], ...entry };
      }
      if (company !== undefined) {
        const { cnpj, ...entry } = company;
        content.companies[cnpj] = { ...content.companies[cnpj], ...entry };
      }
      if (person !== undefined) {
        const { cpf, ...entry } = person;
        content.persons[cpf] = { ...content.persons[cpf], ...entry };
      }
      return keep();
    },
    clear: () => {
      content = { municipalities: {}, companies: {}, persons: {} };
      return keep();
    },
  };
};

/** The entries that every registry has. */
const builtIn = (document: string): { registered?: false } => (isUnregistered(document) ? { registered: false } : {});

const load = async (path: string): Promise<Content> => {
  const stored = JSON.parse((await readIfThere(path)) ?? '{}') as Partial<Content>;
  const { municipalities = {}, companies = {}, persons = {} } = stored;
  return { municipalities, companies, persons };
};

const save = async (path: string, text: string): Promise<void> => {
  const fresh = `${path}.new`;
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  await rename(fresh, path);
};
