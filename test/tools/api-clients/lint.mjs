// Prints what Spectral and Redocly say about openapi.json, one finding in each line.
import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';

const source = readFileSync('openapi.json', 'utf8');

const linter = new spectral.Spectral();
linter.setRuleset({ extends: [[rulesets.oas, 'recommended']] });
const findings = await linter.run(JSON.parse(source));
for (const { code, path, message } of findings)
  process.stdout.write(`spectral ${code} ${path.join('.')}: ${message}\n`);

// The service has no public licence that the document could name.
const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off' } });
const problems = await lintFromString({ source, absoluteRef: `${process.cwd()}/openapi.json`, config });
for (const { ruleId, message, location } of problems)
  process.stdout.write(`redocly ${ruleId} ${location[0]?.pointer}: ${message}\n`);
