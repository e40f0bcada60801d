/** Object ids of the element types, fixed in every PostgreSQL. */
const OID = { text: 25, integer: 23, uuid: 2950 } as const;

const HEADER_BYTES = 20;

/** In place of an element's length. */
const NULL = -1;

/** An array parameter in PostgreSQL's binary form. As text, every quote in every element would be escaped here and read again there. */
export const textArray = (values: readonly (string | null)[]): Buffer => {
  let size = HEADER_BYTES;
  for (const value of values) size += 4 + (value === null ? 0 : Buffer.byteLength(value));
  const array = arrayOf(OID.text, values.length, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === null) {
      array.writeInt32BE(NULL, at);
      at += 4;
      continue;
    }
    const bytes = array.write(value, at + 4);
    array.writeInt32BE(bytes, at);
    at += 4 + bytes;
  }
  return array;
};

export const integerArray = (values: readonly number[]): Buffer => {
  const array = arrayOf(OID.integer, values.length, HEADER_BYTES + 8 * values.length);
  values.forEach((value, index) => {
    const at = HEADER_BYTES + 8 * index;
    array.writeInt32BE(4, at);
    array.writeInt32BE(value, at + 4);
  });
  return array;
};

/** Each value as 36 characters. */
export const uuidArray = (values: readonly string[]): Buffer => {
  const array = arrayOf(OID.uuid, values.length, HEADER_BYTES + 20 * values.length);
  values.forEach((value, index) => {
    const at = HEADER_BYTES + 20 * index;
    array.writeInt32BE(16, at);
    if (array.write(value.replaceAll('-', ''), at + 4, 'hex') !== 16) throw new RangeError('not a UUID');
  });
  return array;
};

/** An array with its header: one dimension from 1. PostgreSQL finds nulls by their length, whatever the header says of them. */
const arrayOf = (type: number, length: number, bytes: number): Buffer => {
  const array = Buffer.allocUnsafe(bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return array;
};

/** The values of these fields, one list for each field, as `unnest` takes them. */
export const columnsOf = <Row, Field extends keyof Row>(
  rows: readonly Row[],
  fields: readonly Field[],
): readonly (readonly Row[Field][])[] => fields.map((field) => rows.map((row) => row[field]));
