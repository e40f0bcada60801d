import type { GenericSchema } from 'valibot';
import * as v from 'valibot';
import { environment, SPEC_WINDOWS } from '../../../src/runtime/config/environment.js';
import { environmentReference, VARIABLE_GROUPS, type VariableReference } from './environment-reference.js';
import { cell } from './regions.js';

/** The tables of docs/operations/configuration.md: bounds and defaults from the schema, meanings from the reference. */
export const variableTables = (): string =>
  VARIABLE_GROUPS.map((group) => {
    const rows = Object.entries(environmentReference)
      .filter(([, reference]) => reference.group === group)
      .map(([name, reference]) => rowOf(name, reference));
    return [`## ${group}`, '', '| variable | default | values | meaning |', '|---|---|---|---|', ...rows].join('\n');
  }).join('\n\n');

const rowOf = (name: string, { meaning, unset }: VariableReference): string => {
  const schema: GenericSchema | undefined = Object.entries(environment.entries).find(([known]) => known === name)?.[1];
  const fixed = schema === undefined ? undefined : v.getDefault(schema);
  const isFixed = typeof fixed === 'string' && fixed !== '';
  const shown = isFixed ? `\`${fixed}\`` : `unset${unset === undefined ? '' : `: ${unset}`}`;
  const values = schema === undefined ? 'path of a file' : valuesOf(name, schema);
  return `| \`${name}\` | ${cell(shown)} | ${cell(values)} | ${cell(meaning)} |`;
};

/** Read from the checks of the schema, so that the page cannot name other bounds than the program. */
const valuesOf = (name: string, schema: GenericSchema): string => {
  const checks = checksOf(schema);
  const bound = (type: string): string | undefined =>
    checks.find((check) => check.type === type)?.requirement?.toString();
  const [least, most] = [bound('min_value'), bound('max_value')];
  const window = Object.entries(SPEC_WINDOWS).find(([known]) => known === name)?.[1];
  if (window !== undefined) {
    const bounds = most === String(window) ? grouped(most) : `${grouped(String(window))} to ${grouped(most ?? '')}`;
    return `${bounds}; less with \`ALLOW_SHORT_WINDOWS=1\``;
  }
  if (least !== undefined && most !== undefined) return `${grouped(least)} to ${grouped(most)}`;
  const options = checks.flatMap((check) => check.options ?? []);
  if (options.length > 0) return options.map((option) => `\`${String(option)}\``).join(', ');
  const messages = checks.flatMap(({ message }) => (typeof message === 'string' ? [message] : []));
  const demand = messages.find((message) => message.startsWith(MUST_BE));
  if (demand !== undefined) return demand.slice(MUST_BE.length);
  if (name.endsWith('_FILE')) return 'path of a file';
  if (name.endsWith('_DIR')) return 'path of a folder';
  return name.endsWith('_URL') ? 'an address' : 'a host name or address';
};

const MUST_BE = 'must be ';

const grouped = (digits: string): string => Number(digits).toLocaleString('en-US');

type Check = {
  type?: string;
  requirement?: { toString(): string };
  message?: unknown;
  options?: readonly unknown[];
  pipe?: readonly Check[];
  wrapped?: Check;
};

const checksOf = (check: Check): readonly Check[] => [
  check,
  ...(check.wrapped === undefined ? [] : checksOf(check.wrapped)),
  ...(check.pipe ?? []).flatMap(checksOf),
];
