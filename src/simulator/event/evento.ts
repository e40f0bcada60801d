import { type Canonical, elementWith, field } from '../../domain/common/canonical-xml.js';
import { brasiliaStamp, type Instant } from '../../domain/common/time.js';
import type { Environment, World } from '../environment.js';
import { signedGzip } from '../sign.js';

const NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

type EventParts = {
  accessKey: string;
  /** Six digits. */
  type: string;
  registeredAt: Instant;
  /** The `pedRegEvento`: the bytes that the client sent, or `systemRequest`. */
  request: Canonical;
};

/** Base64 of the gzipped, signed `evento` around its request (docs/national-system.md#cancellation). */
export const eventDocument = (world: World, { verAplic }: Environment, parts: EventParts): string => {
  const id = `EVT${parts.accessKey}${parts.type}001`;
  const unsigned = elementWith(
    'evento',
    { xmlns: NAMESPACE, versao: '1.01' },
    elementWith(
      'infEvento',
      { Id: id },
      field('verAplic', verAplic),
      field('ambGer', '2'),
      field('nSeqEvento', '1'),
      field('dhProc', brasiliaStamp(parts.registeredAt)),
      field('nDFSe', '0'),
      parts.request,
    ),
  );
  return signedGzip(world, unsigned, 'infEvento', id);
};

/** The `pedRegEvento` of an event that no client sent. It has no signature, which the schema allows. */
export const systemRequest = (
  { tpAmb, verAplic }: Environment,
  parts: { accessKey: string; type: string; registeredAt: Instant; author: string; details: Canonical },
): Canonical =>
  elementWith(
    'pedRegEvento',
    { xmlns: NAMESPACE, versao: '1.01' },
    elementWith(
      'infPedReg',
      { Id: `PRE${parts.accessKey}${parts.type}` },
      field('tpAmb', tpAmb),
      field('verAplic', verAplic),
      field('dhEvento', brasiliaStamp(parts.registeredAt)),
      parts.author.length === 14 ? field('CNPJAutor', parts.author) : field('CPFAutor', parts.author),
      field('chNFSe', parts.accessKey),
      parts.details,
    ),
  );
