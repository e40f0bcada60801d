import { benchAccept, benchAcceptEventStore } from './accept.js';
import { benchAudit } from './audit.js';
import { benchDanfse } from './danfse.js';
import { benchEventLog } from './event-log.js';
import { benchGrowth, benchGrowthOfDouble, type GrowthOptions } from './growth.js';
import { benchHostile } from './hostile.js';
import { benchHostileBodies } from './hostile-bodies.js';
import { floodNames } from './hostile-floods.js';
import { benchRead } from './read.js';
import { benchReadNote } from './read-note.js';
import { benchRebuild } from './rebuild.js';
import type { BenchResult, Row } from './report.js';
import { benchSign } from './sign.js';
import { benchSoak, SOAK_MINUTES } from './soak.js';
import { benchStages } from './stages.js';
import { benchStart } from './start.js';
import { benchWay } from './way.js';
import { alsoWithoutIfma } from './without-ifma.js';

/** The flags of the command that one bench or another reads, as they were typed. */
export type Flags = {
  sizes?: string | undefined;
  folder?: string | undefined;
  fill?: string | undefined;
  minutes?: string | undefined;
};

/** `long`: runs only when named, and a report takes the last result that was kept. `part`: runs only when named, and no report shows it. */
type Group = { run(flags: Flags): Promise<BenchResult>; when: 'always' | 'long' | 'part' };

const always = (run: () => Promise<readonly Row[]>, when: Group['when'] = 'always'): Group => ({
  run: async () => ({ rows: await run(), charts: [] }),
  when,
});

/** The benches of test/bench/README.md, by the names that `npm run bench -- NAME...` takes. */
export const groups: Readonly<Record<string, Group>> = {
  'event-log': always(benchEventLog),
  danfse: always(benchDanfse),
  sign: { when: 'always', run: alsoWithoutIfma('sign', async () => ({ rows: await benchSign(), charts: [] })) },
  'read-note': always(benchReadNote),
  accept: always(benchAccept),
  'accept-eventstore': always(benchAcceptEventStore, 'long'),
  read: always(benchRead),
  way: { when: 'always', run: alsoWithoutIfma('way', benchWay) },
  stages: always(benchStages, 'long'),
  rebuild: always(benchRebuild),
  audit: always(benchAudit),
  start: always(benchStart),
  hostile: always(async () => [...(await benchHostile()), ...(await benchHostileBodies())], 'long'),
  'hostile-bodies': always(benchHostileBodies, 'part'),
  ...Object.fromEntries(floodNames.map((name) => [`hostile:${name}`, always(() => benchHostile([name]), 'part')])),
  soak: { when: 'long', run: ({ minutes }) => benchSoak(minutes === undefined ? SOAK_MINUTES : Number(minutes)) },
  growth: { when: 'long', run: (flags) => benchGrowth(growthOptions(flags)) },
  'growth-eventstore': { when: 'long', run: (flags) => benchGrowthOfDouble(growthOptions(flags)) },
};

const growthOptions = ({ sizes, folder, fill }: Flags): GrowthOptions => ({
  sizes: sizes?.split(',').map(Number),
  folder,
  fillMinutes: fill === undefined ? undefined : Number(fill),
});
