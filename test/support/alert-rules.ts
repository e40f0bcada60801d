import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export type Rule = {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string; seen?: string; count?: string };
  annotations: { summary: string; runbook_url: string };
};

const operationsFile = (name: string): string =>
  fileURLToPath(new URL(`../../docs/operations/${name}`, import.meta.url));

export const rulesFile = operationsFile('alerts.yaml');

export const readMonitoring = (): string => readFileSync(operationsFile('monitoring.md'), 'utf8');

let read: readonly Rule[] | undefined;

/** Parsed once: tests that wait for an alert ask again and again. */
export const readRules = (): readonly Rule[] => {
  if (read === undefined) {
    const { groups } = parse(readFileSync(rulesFile, 'utf8'), { merge: true }) as { groups: { rules: Rule[] }[] };
    read = groups.flatMap(({ rules }) => rules);
  }
  return read;
};

/** Every query of every panel. */
export const readDashboard = (): readonly { title: string; expr: string }[] => {
  const { panels } = JSON.parse(readFileSync(operationsFile('grafana-dashboard.json'), 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
};
