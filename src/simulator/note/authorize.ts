import { haveSameRoot } from '../../domain/common/cnpj.js';
import { present } from '../../domain/common/present.js';
import { wholeSecond } from '../clock.js';
import { type Environment, otherMode, type World } from '../environment.js';
import { linkSubstitution } from '../event/link.js';
import { holderOf } from '../holder.js';
import type { Received } from '../intake.js';
import type { Code } from '../messages.js';
import { type Refusal, refusal } from '../refusal.js';
import type { Dps } from '../rules/dps.js';
import { brokenRules } from '../rules/engine.js';
import { placeOfIncidence } from '../rules/incidence.js';
import type { RuleContext } from '../rules/rule.js';
import { placeOf } from '../rules/subst.js';
import { signedGzip } from '../sign.js';
import type { Note } from '../state/ledger.js';
import { newAccessKey } from './access-key.js';
import { buildNfse, nfseId } from './nfse.js';

type Authorization =
  | { ok: true; note: Note /** Base64 of the gzipped NFS-e. */; document: string }
  | { ok: false; refusals: readonly Refusal[] };

const DEFAULT_RATE = '5.00';

/**
 * Checks the rules and makes number, key, document and ledger record in one synchronous step. So exactly one of two calls with the same DPS id
 * gets a note, and the other gets E0014. The caller awaits `ledger.durable()` before it answers.
 */
export const authorize = (world: World, environment: Environment, received: Received, dps: Dps): Authorization => {
  const { ledger } = environment;
  const now = world.clock.now();
  const fault = world.judgeSigner(received.signerDer, now);
  if (fault !== undefined) return refused(fault === 'invalid' ? 'E0715' : 'E0716');
  const holder = holderOf(received.signerDer);
  const isEmitters = dps.emitter === '' || (holder.cnpj !== undefined && haveSameRoot(holder.cnpj, dps.emitter));
  if (!isEmitters) return refused('E0718');
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
  const document = signedGzip(world, unsigned, 'infNFSe', nfseId(accessKey));
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

const subjectOf = (dps: Dps): NonNullable<Note['subject']> =>
  present({
    competence: dps.competence,
    serviceCode: dps.serviceCode,
    municipalCode: dps.text('serv/cServ/cTribMun'),
    place: placeOf(dps),
  });

const refused = (code: Code): Authorization => ({ ok: false, refusals: [refusal(code)] });

/** Collects what the rules need for one DPS, at the present time of the authorizer's clock. */
const ruleContext = (world: World, environment: Environment, dps: Dps): RuleContext => {
  const { ledger, registry, mode, tpAmb } = environment;
  const place = placeOfIncidence(dps);
  return {
    dps,
    tpAmb,
    now: world.clock.now(),
    tables: world.tables,
    registers: registry,
    notes: {
      note: ledger.noteByKey,
      events: (accessKey) => ledger.events(accessKey).map(({ type }) => type),
      isElsewhere: (accessKey) => world.environments[otherMode(mode)].ledger.noteByKey(accessKey) !== undefined,
    },
    municipality: registry.municipality(dps.municipality),
    incidence: place === undefined ? {} : registry.municipality(place),
    company: registry.company(dps.emitter),
  };
};
