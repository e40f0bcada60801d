import { signDocument } from '../../xml/sign.js';
import { gzipBase64 } from '../../xml/transport.js';
import { wholeSecond } from '../clock.js';
import type { Environment, World } from '../environment.js';
import { linkSubstitution } from '../event/link.js';
import { holderOf, isSameCompany } from '../holder.js';
import type { Received } from '../intake.js';
import { type Refusal, refusal } from '../refusal.js';
import { ruleContext } from '../rules/context.js';
import type { Dps } from '../rules/dps.js';
import { brokenRules } from '../rules/engine.js';
import { placeOf } from '../rules/subst.js';
import type { Note } from '../state/ledger.js';
import { newAccessKey } from './access-key.js';
import { buildNfse, nfseId } from './nfse.js';

export type Authorization =
  | { ok: true; note: Note /** Base64 of the gzipped NFS-e. */; document: string }
  | { ok: false; refusals: readonly Refusal[] };

const DEFAULT_RATE = '5.00';

/**
 * Rules, number, key, document and ledger record in one synchronous step, so that of two calls with one DPS id exactly
 * one gets a note and the other E0014. The caller awaits `ledger.durable()` before it tells anybody.
 */
export const authorize = (world: World, environment: Environment, received: Received, dps: Dps): Authorization => {
  const { ledger } = environment;
  const now = world.clock.now();
  const fault = world.judgeSigner(received.signerDer, now);
  if (fault !== undefined) return refused(fault === 'invalid' ? 'E0715' : 'E0716');
  const holder = holderOf(received.signerDer);
  if (holder.cnpj === undefined || !isSameCompany(holder.cnpj, dps.emitter)) return refused('E0718');
  if (ledger.noteByDps(dps.derivedId) !== undefined) return refused('E0014');
  const context = ruleContext(world, environment, dps);
  const refusals = brokenRules(context);
  if (refusals.length > 0) return { ok: false, refusals };

  const authorizedAt = wholeSecond(now);
  const number = ledger.nextNumber(dps.emitter);
  const accessKey = newAccessKey({ municipality: dps.municipality, emitter: dps.emitter, number, at: authorizedAt });
  const unsigned = buildNfse({
    dps,
    dpsText: received.text,
    accessKey,
    number,
    documentNumber: ledger.nextDocument(),
    verAplic: environment.verAplic,
    processedAt: authorizedAt,
    defaultRate: context.incidence.rate ?? DEFAULT_RATE,
    holderName: holder.name,
    tables: world.tables,
  });
  const { bytes } = signDocument(unsigned, {
    ...world.signer,
    signedElementName: 'infNFSe',
    id: nfseId(accessKey),
    algorithm: 'exc-c14n-with-comments',
    encoding: 'utf-8',
  });
  const document = gzipBase64(bytes);
  const note: Note = {
    accessKey,
    dpsId: dps.derivedId,
    cnpj: dps.emitter,
    number,
    municipality: dps.municipality,
    amountInCents: dps.amountInCents,
    ...(dps.customer !== undefined && { customer: dps.customer }),
    subject: subjectOf(dps),
    authorizedAt,
  };
  ledger.addNote(note, document);
  const old = ledger.noteByKey(dps.text('subst/chSubstda') ?? '');
  if (old !== undefined) {
    const reason = dps.text('subst/cMotivo') ?? '';
    linkSubstitution(world, environment, old, { accessKey, reason, text: dps.text('subst/xMotivo'), at: authorizedAt });
  }
  return { ok: true, note, document };
};

const subjectOf = (dps: Dps): NonNullable<Note['subject']> => {
  const municipalCode = dps.text('serv/cServ/cTribMun');
  const place = placeOf(dps);
  return {
    competence: dps.competence,
    serviceCode: dps.serviceCode,
    ...(municipalCode !== undefined && { municipalCode }),
    ...(place !== undefined && { place }),
  };
};

const refused = (code: 'E0014' | 'E0715' | 'E0716' | 'E0718'): Authorization => ({
  ok: false,
  refusals: [refusal(code)],
});
