/** The values of these fields, one list for each field, as `unnest` takes them. */
export const columnsOf = <Row, Field extends keyof Row>(
  rows: readonly Row[],
  fields: readonly Field[],
): readonly (readonly Row[Field][])[] => fields.map((field) => rows.map((row) => row[field]));
