// Writes the types of openapi-typescript and the client of Hey API from openapi.json into the folder `generated`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';

mkdirSync('generated', { recursive: true });
const types = await openapiTS(JSON.parse(readFileSync('openapi.json', 'utf8')));
writeFileSync('generated/openapi-typescript.ts', astToString(types));
await createClient({ input: 'openapi.json', output: 'generated/hey-api', logs: { level: 'silent' } });
