import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';

/**
 * A handler's schema as JSON Schema 2020-12, without `$schema`. Rules that are code show through the metadata beside
 * them (`integer`, lengths in code points, ranges); what only code can say stays in the descriptions.
 */
export const jsonSchemaOf = (schema: v.GenericSchema): JsonSchema => {
  const { $schema: _dialect, ...jsonSchema } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['check', 'raw_check'],
    overrideAction: ({ valibotAction, jsonSchema: soFar }) =>
      isMetadata(valibotAction) ? keywordsOf({ ...soFar, ...valibotAction.metadata }) : undefined,
  });
  return jsonSchema;
};

type Metadata = { type: 'metadata'; metadata: Readonly<Record<string, unknown>> };

const isMetadata = (action: object): action is Metadata => 'type' in action && action.type === 'metadata';

/** `integer` is a word of ours, no keyword. */
const keywordsOf = ({ integer, ...keywords }: Readonly<Record<string, unknown>>): JsonSchema =>
  integer === true ? { ...keywords, type: 'integer' } : keywords;
