import { spawn } from 'node:child_process';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { ROOT } from '../tools/root.js';
import { type Accepted, judgeAudit, readAccepted } from '../tools/supply-chain/audit.js';

const TODAY = '2026-11-22';

const advisory = (severity: string, id: string) => ({
  url: `https://advisories.test/${id}`,
  title: 'a fault',
  severity,
});

const report = (vulnerabilities: Record<string, { severity: string; via: readonly unknown[] }>): string =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(
      Object.entries(vulnerabilities).map(([name, rest]) => [name, { name, ...rest }]),
    ),
  });

const hono = report({
  hono: { severity: 'high', via: [advisory('high', 'GHSA-1'), advisory('moderate', 'GHSA-2')] },
  '@hono/node-server': { severity: 'high', via: ['hono'] },
});

const accepted: Accepted = {
  advisory: 'GHSA-1',
  package: 'hono',
  reason: 'the part is not used',
  date: '2026-11-01',
  until: '2026-12-01',
};

describe('a report', () => {
  it('fails for what is high or critical, once where it stands', () => {
    expect(judgeAudit(hono, [], TODAY)).toEqual({
      kind: 'answered',
      findings: ['high hono GHSA-1: a fault'],
      accepted: [],
      stale: [],
    });
    const critical = report({ pg: { severity: 'critical', via: [advisory('critical', 'GHSA-3')] } });
    expect(judgeAudit(critical, [accepted], TODAY)).toMatchObject({
      findings: ['critical pg GHSA-3: a fault'],
      stale: ['GHSA-1 of hono'],
    });
    expect(judgeAudit(report({}), [], TODAY)).toEqual({ kind: 'answered', findings: [], accepted: [], stale: [] });
  });

  it('passes what was accepted, of that package and until its day', () => {
    expect(judgeAudit(hono, [accepted], TODAY)).toMatchObject({
      findings: [],
      accepted: ['high hono GHSA-1: a fault'],
    });
    expect(judgeAudit(hono, [accepted], '2026-12-01')).toMatchObject({ findings: [] });
    expect(judgeAudit(hono, [accepted], '2026-12-02')).toMatchObject({ findings: ['high hono GHSA-1: a fault'] });
    expect(judgeAudit(hono, [{ ...accepted, package: 'pg' }], TODAY)).toMatchObject({ findings: [expect.any(String)] });
  });

  it.each([
    ['', 'npm printed no report'],
    ['<html>', 'npm printed no report'],
    ['{}', 'the answer is no report'],
    ['{"message":"405 Method Not Allowed","error":{"summary":""}}', '405 Method Not Allowed'],
    ['{"error":{"summary":"no such host"}}', 'no such host'],
  ])('that is none (%j) is named', (printed, why) =>
    expect(judgeAudit(printed, [], TODAY)).toEqual({ kind: 'unanswered', why }),
  );

  it('is judged by a list whose entries have a reason, a date and an end', () => {
    expect(readAccepted(JSON.stringify([accepted]))).toEqual([accepted]);
    for (const field of ['advisory', 'package', 'reason', 'date', 'until'] as const) {
      expect(() => readAccepted(JSON.stringify([{ ...accepted, [field]: undefined }])), field).toThrow();
    }
    expect(() => readAccepted('{}')).toThrow('no list');
  });
});

describe('npm run audit', () => {
  let registry: Server | undefined;
  afterEach(() => registry?.close());

  const audit = async (answer: RequestListener): Promise<{ code: number | null; output: string }> => {
    const server = createServer(answer);
    registry = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const child = spawn('npm', ['run', '-s', 'audit', '--', `--registry=http://127.0.0.1:${port}`], { cwd: ROOT });
    const output = text(child.stdout);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, output: await output };
  };

  it('fails when a registry knows of a fault in a production package', async () => {
    const found = {
      hono: [{ id: 1, ...advisory('high', 'GHSA-1'), vulnerable_versions: '*', cwe: [], cvss: { score: 7 } }],
    };
    const { code, output } = await audit((request, response) => {
      const isAsked = request.url?.endsWith('/advisories/bulk') === true;
      response
        .writeHead(isAsked ? 200 : 404, { 'Content-Type': 'application/json' })
        .end(JSON.stringify(isAsked ? found : {}));
    });
    expect({ code, output }).toEqual({
      code: 1,
      output:
        'audit: FOUND high hono GHSA-1: a fault\naudit: 1 high or critical advisories about the production packages\n',
    });
  });

  it('says that it learned nothing from a registry without advisories, and does not fail', async () => {
    const { code, output } = await audit((_request, response) => void response.writeHead(405).end());
    expect(code).toBe(0);
    expect(output).toMatch(/^audit: NOT DONE, the registry gives no advisories here: 405 Method Not Allowed/);
  });
});
