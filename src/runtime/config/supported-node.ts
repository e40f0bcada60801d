/** A release line of Node, by its first release that fixes CVE-2026-21717 (all of 2026-03-24). */
type Line = { major: number; minor: number; patch: number };

/** Later lines began with the fix; lines between these ended without it. */
const FIXED: readonly Line[] = [
  { major: 20, minor: 20, patch: 2 },
  { major: 22, minor: 22, patch: 2 },
  { major: 24, minor: 14, patch: 1 },
  { major: 25, minor: 8, patch: 2 },
];

/** Without the fix a client can choose strings of digits that collide in V8's table of strings. */
const REASON = 'one JSON body can block it for minutes (CVE-2026-21717)';

const RECOMMENDED = 24;

const written = ({ major, minor, patch }: Line): string => `${major}.${minor}.${patch}`;

const isFixed = (version: string): boolean => {
  const [major, minor, patch] = version.split('.').map((part) => Number.parseInt(part, 10));
  // An unreadable version is refused.
  if (major === undefined || minor === undefined || patch === undefined) return false;
  const line = FIXED.find((candidate) => candidate.major === major);
  if (line === undefined) return major > Math.max(...FIXED.map((candidate) => candidate.major));
  return minor > line.minor || (minor === line.minor && patch >= line.patch);
};

/** The message that refuses this Node (`process.versions.node`) and names working versions; undefined when the version may run the service. */
export const refusalOfNode = (version: string): string | undefined =>
  isFixed(version)
    ? undefined
    : `Node ${version} is refused: ${REASON}. Use the newest Node ${RECOMMENDED}; the oldest that work are ${FIXED.map(written).join(', ')}.`;
