import { haveSameRoot } from '../../domain/common/cnpj.js';
import { present } from '../../domain/common/present.js';
import type { Environment, World } from '../environment.js';
import { DPS_KIND, type Received, takeIn } from '../intake.js';
import { authorize } from '../note/authorize.js';
import { nfseId } from '../note/nfse.js';
import { type Refusal, refusal } from '../refusal.js';
import { type Dps, readDps, tooLargeAmount } from '../rules/dps.js';
import { answersOf, webServerPage } from './answer.js';
import { hiddenNote, type Operation } from './operation.js';

/** `POST /nfse` (docs/national-system.md#operations). `body` is the parsed JSON, `caller` the CNPJ of the client certificate. */
export const issueOperation = (world: World, environment: Environment, caller: string, body: unknown): Operation => {
  const taken = takeDps(world, body);
  const { json, rejectedDps } = answersOf(world, environment);
  const refuse = (refusals: readonly Refusal[]) => rejectedDps(refusals, taken.id);
  const dps = 'dps' in taken ? taken.dps : undefined;
  if (dps !== undefined) world.hidden.sawDps(dps.derivedId, dps.amountInCents);
  return {
    on: 'issue',
    dpsId: dps?.derivedId,
    note:
      dps === undefined
        ? {}
        : present({ cnpj: dps.emitter || undefined, customer: dps.customer, amountInCents: dps.amountInCents }),
    refuse,
    effect: { kind: 'writes', hides: dps && hiddenNote(dps.derivedId) },
    perform: async () => {
      if ('refusal' in taken) return refuse([taken.refusal]);
      const { emitter } = taken.dps;
      if (emitter !== '' && !haveSameRoot(caller, emitter)) return webServerPage(403);
      const result = authorize(world, environment, taken.received, taken.dps);
      // Also before a refusal: E0014 proves that a note exists, and another call may still be writing that note.
      await environment.ledger.durable();
      if (!result.ok) return refuse(result.refusals);
      const { accessKey } = result.note;
      // `idDps` holds the Id of the NFS-e, as in the real answers (docs/national-system.md#iddps-holds-the-key).
      const members = { idDps: nfseId(accessKey), chaveAcesso: accessKey, nfseXmlGZipB64: result.document };
      return json(201, { ...members, alertas: null });
    },
  };
};

type Taken = { refusal: Refusal; id?: string } | { dps: Dps; received: Received; id: string };

const takeDps = (world: World, body: unknown): Taken => {
  const base64 = textMember(body, 'dpsXmlGZipB64');
  if (base64 === undefined) return { refusal: refusal('RNG9999') };
  const intake = takeIn(base64, DPS_KIND, world);
  if (!intake.ok) return intake;
  const { received } = intake;
  const tooLarge = tooLargeAmount(received.text);
  // No official code says so. RNG9999 would have a client send for good what can never pass.
  if (tooLarge !== undefined)
    return { refusal: refusal('E1235', `O simulador não comporta o valor de '${tooLarge}'.`) };
  const dps = readDps(received.root);
  return dps === undefined ? { refusal: refusal('RNG9999') } : { dps, received, id: dps.id };
};

/** A text member of an untrusted JSON value; undefined when it is absent or no text. */
export const textMember = (body: unknown, name: string): string | undefined => {
  if (typeof body !== 'object' || body === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(body, name)?.value;
  return typeof value === 'string' ? value : undefined;
};
