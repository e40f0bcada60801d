/** A known advisory that does not concern the service, accepted until a date of review. */
export type Accepted = { advisory: string; package: string; reason: string; date: string; until: string };

/** The report of `npm audit --json`, as far as it is read. A vulnerability that comes by another package names that one. */
type Report = {
  auditReportVersion: 2;
  vulnerabilities: Readonly<
    Record<
      string,
      { name: string; severity: string; via: readonly (string | { url: string; title: string; severity: string })[] }
    >
  >;
};

type Verdict =
  /** No registry answered with advisories; nothing was learned. */
  | { kind: 'unanswered'; why: string }
  | { kind: 'answered'; findings: readonly string[]; accepted: readonly string[]; stale: readonly string[] };

const FAILING = new Set(['high', 'critical']);

/** What `npm audit --omit=dev --json` printed, judged with the list of what was accepted; `today` is a date (2026-11-22). */
export const judgeAudit = (printed: string, list: readonly Accepted[], today: string): Verdict => {
  const report = reportIn(printed);
  if (typeof report === 'string') return { kind: 'unanswered', why: report };
  const advisories = Object.values(report.vulnerabilities).flatMap(({ name, via }) =>
    via.flatMap((cause) =>
      typeof cause === 'string' || !FAILING.has(cause.severity) ? [] : [{ name, id: idOf(cause.url), ...cause }],
    ),
  );
  const inForce = list.filter(({ until }) => today <= until);
  const isAccepted = ({ name, id }: { name: string; id: string }): boolean =>
    inForce.some((entry) => entry.advisory === id && entry.package === name);
  const lineOf = ({ name, id, severity, title }: (typeof advisories)[number]): string =>
    `${severity} ${name} ${id}: ${title}`;
  return {
    kind: 'answered',
    findings: advisories.filter((found) => !isAccepted(found)).map(lineOf),
    accepted: advisories.filter(isAccepted).map(lineOf),
    stale: list
      .filter((entry) => !advisories.some(({ name, id }) => entry.advisory === id && entry.package === name))
      .map(({ advisory, package: name }) => `${advisory} of ${name}`),
  };
};

/** `GHSA-…`, the end of an advisory's address. */
const idOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

const reportIn = (printed: string): Report | string => {
  try {
    const parsed = JSON.parse(printed) as Partial<Report> & { message?: string; error?: { summary?: string } };
    if (parsed.auditReportVersion === 2 && parsed.vulnerabilities !== undefined) return parsed as Report;
    return parsed.message ?? (parsed.error?.summary || 'the answer is no report');
  } catch {
    return 'npm printed no report';
  }
};

/** Reads the list from its file. Throws when an entry lacks a field or has no date. */
export const readAccepted = (text: string): readonly Accepted[] => {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error('the list of accepted advisories is no list');
  return list.map((entry: Partial<Accepted>) => {
    const { advisory, package: name, reason, date, until } = entry;
    if (!advisory || !name || !reason)
      throw new Error(`an entry needs advisory, package and reason: ${JSON.stringify(entry)}`);
    const isDate = (value: string | undefined): value is string => /^\d{4}-\d\d-\d\d$/.test(value ?? '');
    if (!isDate(date) || !isDate(until)) throw new Error(`${advisory} needs date and until, as 2026-11-22`);
    return { advisory, package: name, reason, date, until };
  });
};
