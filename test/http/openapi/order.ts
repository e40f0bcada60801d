export type Schema = {
  type?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
};

/** One line for each object whose fields are not in the order of its schema, which is the order of the tables in docs/contract.md. */
export const orderFaults = (
  value: unknown,
  schema: Schema | undefined,
  schemas: Readonly<Record<string, Schema>>,
): readonly string[] => {
  const { properties, items } = resolved(schema, schemas);
  if (Array.isArray(value)) return value.flatMap((item) => orderFaults(item, items, schemas));
  if (typeof value !== 'object' || value === null || properties === undefined) return [];
  const sent = Object.keys(value);
  const expected = Object.keys(properties).filter((name) => sent.includes(name));
  return [
    ...(sent.join() === expected.join() ? [] : [`fields ${sent.join()} instead of ${expected.join()}`]),
    ...Object.entries(value).flatMap(([name, field]) => orderFaults(field, properties[name], schemas)),
  ];
};

const resolved = (schema: Schema | undefined, schemas: Readonly<Record<string, Schema>>): Schema =>
  schema?.$ref === undefined ? (schema ?? {}) : (schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
