import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SOURCES } from '../../../src/launch/build.mjs';
import { readCompose, serviceText } from '../../support/compose.js';
import { ROOT } from '../../tools/root.js';

const read = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');
const recipe = read('docs/operations/Dockerfile').replaceAll(/\\\n\s*/g, '');
const stages = recipe.split(/^(?=FROM )/m).slice(1);
const [, , final = ''] = stages;
const { version, bin } = JSON.parse(read('package.json')) as { version: string; bin: { nfse: string } };

const copied = [...recipe.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));

it('is what compose.yaml builds, under the name that it gives', () => {
  expect(serviceText('setup').build).toEqual({ context: '.', dockerfile: 'docs/operations/Dockerfile' });
  expect(recipe).toContain(`docker build -f docs/operations/Dockerfile -t nfse-issuance-service:${version} .`);
});

it('has three stages from one base of a full version and digest, which one argument pins', () => {
  expect(stages.map((stage) => stage.split('\n')[0])).toEqual([
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an argument of the recipe.
    ...['FROM ${NODE_IMAGE} AS build', 'FROM ${NODE_IMAGE} AS libraries', 'FROM ${NODE_IMAGE}'],
  ]);
  expect(recipe).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/m);
});

it('copies what the build reads and no more, and the build gets no other files', () => {
  const forBuild = ['package.json', 'package-lock.json', 'tsconfig.json', ...SOURCES];
  expect(new Set(copied)).toEqual(new Set([...forBuild, 'src/launch']));
  for (const source of copied) expect([source, existsSync(`${ROOT}/${source}`)]).toEqual([source, true]);
  const passed = read('docs/operations/Dockerfile.dockerignore').match(/^!.+$/gm) ?? [];
  const needed = copied.filter((source) => source !== 'src/launch').map((source) => `!${source}`);
  expect(passed.toSorted()).toEqual([...new Set(needed)].toSorted());
});

it('runs the commands that build it elsewhere, and none that downloads a compiler', () => {
  const runs = [...recipe.matchAll(/^RUN (npm (?:ci(?: --omit=dev)?|run \w+))/gm)].map(([, run]) => run);
  expect(runs).toEqual(['npm ci', 'npm run build', 'npm ci --omit=dev']);
  expect(recipe).toContain(`ENTRYPOINT ["node", "/app/${bin.nfse.replace('./', '')}"]`);
  expect(recipe).not.toMatch(/apt-get|build-essential|node-gyp/);
});

it('leaves no package manager in the image that runs, nor root', () => {
  expect(final).not.toMatch(/RUN npm/);
  expect(final).toMatch(/rm -rf \/usr\/local\/lib\/node_modules .*\/npm /);
  const after = final.slice(final.indexOf('USER node'));
  expect(after).not.toMatch(/^(USER root|RUN|COPY)/m);
  expect(after).toMatch(/^STOPSIGNAL SIGTERM$/m);
});

it('checks its health as compose.yaml does, at the port of the operations', () => {
  const [, words = '[]'] = /^HEALTHCHECK .* CMD (\[.*\])$/m.exec(recipe) ?? [];
  const [program, flag, script = ''] = JSON.parse(words) as string[];
  const ofRole = readCompose().services.issuer?.healthcheck?.test?.at(-1);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the health check.
  const fixed = script.replaceAll('`', "'").replace('${process.env.OPS_PORT || 3001}', '3001');
  expect([program, flag, fixed]).toEqual(['node', '-e', ofRole]);
});

it('makes each folder that an empty volume takes its owner from', () => {
  const targets = (serviceText('setup').volumes ?? []).map((mount) => mount.split(':')[1] ?? '');
  const made = recipe.match(/RUN install .*/)?.[0].split(/\s+/) ?? [];
  expect(targets.length).toBeGreaterThan(0);
  for (const target of [...targets, '/data']) expect(made).toContain(target);
});

it('has a page that names its version, and version and digest of the base and of the engines of compose.yaml', () => {
  const page = read('docs/operations/container.md').replaceAll('` | `sha256:', '@sha256:');
  const named = new Set(page.match(/[a-z-]+(?:\/[a-z]+)?:v?\d+\.\d+[\w.-]*(?:@sha256:[0-9a-f]{64})?/g));
  const images = Object.values(readCompose().services).map(({ image }) => image);
  const [, base = ''] = /^ARG NODE_IMAGE=(.*)$/m.exec(recipe) ?? [];
  expect(images).toContain(`nfse-issuance-service:${version}`);
  expect([...named].toSorted()).toEqual([...new Set([base, ...images])].toSorted());
});
