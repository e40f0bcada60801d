import type { ComparedSeries, UnknownNote, Unproven } from '../../app/reconcile-log/reconcile.js';
import type { Check, Reconciliation } from '../session.js';
import { counted } from '../text.js';

/** What `doctor --reconcile` found, as lines of the doctor. */
export const reconcileChecks = (result: Reconciliation): readonly Check[] => {
  if (result.kind === 'not_paused')
    return [{ name: 'reconcile', ok: true, detail: 'issuing is not paused: there is nothing to compare' }];
  const { series, skipped, unknown, unproven, resumed } = result;
  const accounted = resumed;
  return [
    ...series.map(comparedCheck),
    ...skipped.map(({ companyId, mode, why }) => ({
      ...{ name: `reconcile ${companyId}${mode === undefined ? '' : ` ${mode}`}`, ok: true },
      detail: `not compared: ${why}`,
    })),
    ...unproven.map(unprovenCheck),
    ...unknown.map((note) => unknownCheck(note, accounted)),
    {
      name: 'reconcile',
      ok: resumed,
      detail: resumed ? 'compared with the authorizer: issuing goes on within seconds' : 'issuing stays paused',
      ...(resumed ? {} : { cure: 'cure what the lines above say, then nfse doctor --reconcile again' }),
    },
  ];
};

const comparedCheck = ({ companyId, mode, series, found, adopted, movedTo }: ComparedSeries): Check => ({
  name: `reconcile ${companyId} ${mode}`,
  ok: true,
  detail: [
    `series ${series}: ${counted(found, 'note')} behind the end of the log`,
    ...(adopted === 0
      ? []
      : [`${adopted} given back to ${adopted === 1 ? 'its open invoice' : 'their open invoices'}`]),
    ...(movedTo === undefined ? [] : [`numbers go on at ${movedTo}`]),
  ].join(', '),
});

const unprovenCheck = ({ companyId, mode, why }: Unproven): Check => ({
  name: `reconcile ${companyId} ${mode}`,
  ok: false,
  detail: `the authorizer's answer proves nothing (${why})`,
  cure: why.startsWith('certificate')
    ? `nfse certificate put ${companyId} --pfx FILE --password-file FILE`
    : 'try again when it can be reached',
});

/** Of test mode it is no fiscal document, and a finding only to be told. */
const unknownCheck = (note: UnknownNote, accounted: boolean): Check => {
  const { companyId, mode, series, number, accessKey, authorizedAt, amount, once } = note;
  const ok = accounted || mode === 'test';
  return {
    name: `note without invoice ${companyId} ${mode}`,
    ok,
    detail: `series ${series} number ${number}, access key ${accessKey}, of ${authorizedAt}, amount ${amount}${once === undefined ? '' : `, was ${once}`}`,
    ...(ok
      ? {}
      : {
          cure: 'take it over with the reference that the client gave it (nfse invoice import FILE.ndjson), or, when no client will repeat it, nfse doctor --reconcile --accept-unknown',
        }),
  };
};
