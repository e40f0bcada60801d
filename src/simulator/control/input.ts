/** A wrong member of a request, named by its path. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** Reads one member; `undefined` when it is absent. Throws `BadInput`. */
export type Read<T> = (value: unknown, field: string) => T;

/** A strict reader of one JSON object: `done` refuses every member that was not read. */
type Members = {
  optional<T>(name: string, read: Read<T>): T | undefined;
  required<T>(name: string, read: Read<T>): T;
  done(): void;
};

export const members = (value: unknown, path = ''): Members => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadInput(path === '' ? 'body' : path, 'must be a JSON object');
  }
  const entries = new Map<string, unknown>(Object.entries(value));
  const known = new Set<string>();
  const fieldOf = (name: string) => (path === '' ? name : `${path}.${name}`);
  const optional = <T>(name: string, read: Read<T>): T | undefined => {
    known.add(name);
    const member = entries.get(name);
    return member === undefined ? undefined : read(member, fieldOf(name));
  };
  return {
    optional,
    required: (name, read) => {
      const member = optional(name, read);
      if (member === undefined) throw new BadInput(fieldOf(name), 'is required');
      return member;
    },
    done: () => {
      for (const name of entries.keys()) if (!known.has(name)) throw new BadInput(fieldOf(name), 'is not known');
    },
  };
};

export const oneOf =
  <T extends string>(allowed: readonly T[]): Read<T> =>
  (value, field) => {
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw new BadInput(field, `must be one of ${allowed.join(', ')}`);
    return found;
  };

export const whole =
  (least: number, most: number): Read<number> =>
  (value, field) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
      throw new BadInput(field, `must be a whole number from ${least} to ${most}`);
    }
    return value;
  };

export const flag: Read<boolean> = (value, field) => {
  if (typeof value !== 'boolean') throw new BadInput(field, 'must be true or false');
  return value;
};

export const textLike =
  (pattern: RegExp, meaning: string): Read<string> =>
  (value, field) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw new BadInput(field, `must be ${meaning}`);
    return value;
  };

export const listOf =
  <T>(read: Read<T>): Read<readonly T[]> =>
  (value, field) => {
    if (!Array.isArray(value)) throw new BadInput(field, 'must be a list');
    return value.map((item: unknown, at) => read(item, `${field}[${at}]`));
  };
