import { open, readFile, rename } from 'node:fs/promises';

/** What one municipality demands. Absent members have the permissive default. */
export type Municipality = {
  /** Default true: the convênio is active. */
  adherent?: boolean;
  /** Default true: the municipality issues through the national emitter. */
  nationalEmitter?: boolean;
  /** Default false. */
  registrationRequired?: boolean;
  /** Default false. */
  customerRequired?: boolean;
  /** Days after authorization in which a note can be cancelled; default: no limit. */
  cancelDays?: number;
  /** The administered cTribNac; default: all. */
  serviceCodes?: readonly string[];
  /** Percent with two places, default `5.00`. */
  rate?: string;
};

export type TaxRegime = 'mei' | 'simples' | 'normal';

/** `cnc` undefined: nobody said; null: certainly no entry; both mean that CNC holds no registration. */
export type Company = { cnc?: { municipalRegistration: string } | null; regime?: TaxRegime };

/** Registries of one environment: convênio and parameters per municipality, CNC and Simples per company. */
export type Registry = {
  municipality(ibge: string): Municipality;
  company(cnpj: string): Company;
  /** Merges into the entry and returns when it is on the disk. */
  change(change: RegistryChange): Promise<void>;
};

export type RegistryChange = {
  municipality?: { ibge: string } & Municipality;
  company?: { cnpj: string } & Company;
};

type Content = { municipalities: Record<string, Municipality>; companies: Record<string, Company> };

/** Opens the registries kept at `path` (JSON); an absent file is the permissive default of everything. */
export const openRegistry = async (path: string): Promise<Registry> => {
  const content = await load(path);
  let saving: Promise<void> = Promise.resolve();
  return {
    municipality: (ibge) => content.municipalities[ibge] ?? {},
    company: (cnpj) => content.companies[cnpj] ?? {},
    change: ({ municipality, company }) => {
      if (municipality !== undefined) {
        const { ibge, ...entry } = municipality;
        content.municipalities[ibge] = { ...content.municipalities[ibge], ...entry };
      }
      if (company !== undefined) {
        const { cnpj, ...entry } = company;
        content.companies[cnpj] = { ...content.companies[cnpj], ...entry };
      }
      saving = saving.catch(() => undefined).then(() => save(path, JSON.stringify(content)));
      return saving;
    },
  };
};

const load = async (path: string): Promise<Content> => {
  try {
    const stored = JSON.parse(await readFile(path, 'utf8')) as Partial<Content>;
    return { municipalities: stored.municipalities ?? {}, companies: stored.companies ?? {} };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { municipalities: {}, companies: {} };
    }
    throw error;
  }
};

const save = async (path: string, text: string): Promise<void> => {
  const fresh = `${path}.new`;
  const handle = await open(fresh, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
};
