import { type CodedRefusals, refusalsWith } from '../../adapters/read-model-postgres/support-reads.js';
import type { Check } from '../../cli/session.js';
import { modes, publicInvoiceId } from '../../domain/common/ids.js';
import { addSeconds, brasiliaStamp, DAY_SECONDS, type Instant } from '../../domain/common/time.js';
import { layoutOf, layoutsToCome } from '../../domain/dps/layout.js';
import { counted } from '../../lib/counted.js';
import type { Clock } from '../../ports/clock.js';
import type { Engines } from '../engines/engines.js';

/** Codes of a refusal for version or schema (docs/national-system.md#layouts). What is sent has passed our schemas, so Sefin has others. */
export const LAYOUT_CODES: readonly string[] = ['E0001', 'E1235', 'E1260', 'E1825', 'RNG6110', 'RNG9997'];

/** The layout that is sent today, what is announced, and whether the authorizer has refused documents for their layout in the last day. */
export const layoutChecks = async ({ pool }: Pick<Engines, 'pool'>, clock: Clock): Promise<readonly Check[]> => {
  const now = clock.now();
  // An invoice whose outcome time decides has it hours after its acceptance.
  const bounds = { since: addSeconds(now, -DAY_SECONDS), acceptedSince: addSeconds(now, -2 * DAY_SECONDS) };
  return [...announcedChecks(now), refusedCheck(await refusalsWith(pool, LAYOUT_CODES, bounds), now)];
};

/** No fault of the installation: a warning, which a newer version of this program ends. */
const announcedChecks = (now: Instant): readonly Check[] => {
  const announced = new Set(modes.flatMap((mode) => layoutsToCome(mode, now)));
  return [...announced].map(({ name, from, source }) => ({
    name: 'layout announced',
    ok: true,
    detail: `layout ${name} may be wanted from ${from.live} (test: ${from.test}): ${source}; this version has no schemas of it`,
    cure: 'look for a newer version of this service, and at gov.br/nfse (documentação técnica) for the schemas',
  }));
};

const refusedCheck = (refusals: readonly CodedRefusals[], now: Instant): Check => {
  const name = 'layout';
  const sent = modes.map((mode) => `${layoutOf(mode, brasiliaStamp(now)).version} in ${mode} mode`).join(', ');
  if (refusals.length === 0)
    return { name, ok: true, detail: `sends ${sent}; none was refused for its layout in the last day` };
  const texts = refusals.map(({ mode, work, count, codes, newest }) => {
    const documents = work === 'issue' ? counted(count, 'invoice') : counted(count, 'cancellation');
    return `${documents} in ${mode} mode (${codes.join(', ')}; the newest is ${publicInvoiceId(newest)})`;
  });
  return {
    name,
    ok: false,
    detail: `the authorizer refused for version or schema in the last day: ${texts.join(', ')}; sends ${sent}`,
    cure: 'update this service; until then nfse api off if every invoice is refused (docs/operations/support.md#a-refused-layout)',
  };
};
