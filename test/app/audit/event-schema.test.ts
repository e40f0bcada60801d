import type * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { dataSchemas } from '../../../src/app/audit/event-schema.js';
import { sealed } from '../../../src/app/audit/schema-parts.js';
import { eventTypeDefinitions } from '../../../src/app/event-store/event-types.js';

type Form = v.GenericSchema & { wrapped?: Form; entries?: Readonly<Record<string, Form>>; options?: readonly Form[] };

/** Of all forms that the data of the type can have. */
const fieldsOf = ({ entries = {}, options = [] }: Form): readonly (readonly [name: string, form: Form])[] => [
  ...Object.entries(entries),
  ...options.flatMap(fieldsOf),
];

/** The compiler compares the names of the fields only, because a sealed field is stored as text. */
describe('the schemas of stored events', () => {
  it.each([...eventTypeDefinitions])('%s: exactly the personal fields are sealed', (type, { personal }) => {
    const schema = dataSchemas.get(type);
    const fields = schema === undefined ? [] : fieldsOf(schema);
    const sealedFields = fields.filter(([, form]) => (form.wrapped ?? form) === sealed).map(([name]) => name);
    expect([...new Set(sealedFields)].sort()).toEqual([...personal].sort());
  });
});
