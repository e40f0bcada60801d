import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The parts of a service of compose.yaml that concern its process. */
type ComposeService = {
  /** Arguments of the program: `['serve', '--role', 'api']`. */
  command: readonly string[];
  /** Variables that are not given to compose have their defaults; empty ones count as unset, as the service sees it. */
  environment: Readonly<Record<string, string>>;
};

type Condition = 'service_healthy' | 'service_completed_successfully';

/** A service as compose.yaml writes it; compose.test.ts checks that it has these members and no others. */
type ServiceText = {
  image: string;
  build?: { context: string; dockerfile: string };
  pull_policy?: string;
  profiles?: readonly string[];
  user: string;
  group_add?: readonly string[];
  hostname?: string;
  entrypoint?: readonly string[];
  command?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  volumes?: readonly string[];
  configs?: readonly { source: string; target: string }[];
  tmpfs: readonly string[];
  networks?: readonly string[];
  network_mode?: string;
  ports?: readonly string[];
  depends_on?: Readonly<Record<string, { condition: Condition }>>;
  healthcheck?: { disable?: boolean; test?: readonly string[] };
  deploy: { resources: { limits: { cpus: string; memory: string; pids: number } } };
};

type ComposeText = {
  services: Readonly<Record<string, ServiceText>>;
  volumes: Readonly<Record<string, null>>;
  configs: Readonly<Record<string, { file: string }>>;
  networks: Readonly<Record<string, { internal?: boolean } | null>>;
};

const FILE = fileURLToPath(new URL('../../compose.yaml', import.meta.url));

/** compose.yaml with anchors and merges resolved, its variables not. */
export const readCompose = (): ComposeText => parse(readFileSync(FILE, 'utf8'), { merge: true }) as ComposeText;

/** Throws for a name that compose.yaml does not have. */
export const serviceText = (name: string): ServiceText => {
  const service = readCompose().services[name];
  if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return service;
};

/** What compose.yaml starts under this name. */
export const composeService = (name: string): ComposeService => {
  const { command = [], environment = {} } = serviceText(name);
  const variables = Object.entries(environment).map(([variable, value]) => [variable, withDefaults(value)] as const);
  return {
    command: command.map((word) => withDefaults(word)),
    environment: Object.fromEntries(variables.filter(([, value]) => value !== '')),
  };
};

/** `${NAME:-default}` and `${NAME-default}` with these variables set, and no others; a default may hold another. `$$` is a dollar sign. */
export const withDefaults = (text: string, set: Readonly<Record<string, string>> = {}): string => {
  const inner = text.replace(
    /(?<!\$)\$\{([A-Z_]+):?-([^{}]*)\}/g,
    (_, name: string, fallback: string) => set[name] ?? fallback,
  );
  return inner === text ? text.replaceAll('$$', '$') : withDefaults(inner, set);
};

/** Names of the variables that whoever starts compose may set. */
export const composeVariables = (): readonly string[] => [
  ...new Set([...readFileSync(FILE, 'utf8').matchAll(/(?<!\$)\$\{([A-Z_]+)/g)].map(([, name = '']) => name)),
];
