import { brasiliaStamp, type Instant } from '../../domain/shared/time.js';
import { type Canonical, elementWith, field } from '../../xml/element.js';
import { signDocument } from '../../xml/sign.js';
import { gzipBase64 } from '../../xml/transport.js';
import type { Environment, World } from '../environment.js';

const NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

export type EventParts = {
  accessKey: string;
  /** Six digits. */
  type: string;
  registeredAt: Instant;
  /** The `pedRegEvento`, copied as it came or made by the system itself. */
  request: Canonical;
};

/** The signed `evento` around its request, base64 of the gzipped document (domain.md section 13). */
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
  const { bytes } = signDocument(unsigned, {
    ...world.signer,
    signedElementName: 'infEvento',
    id,
    algorithm: 'exc-c14n-with-comments',
    encoding: 'utf-8',
  });
  return gzipBase64(bytes);
};

/** The `pedRegEvento` of an event that no client sent: unsigned, which the schema allows. */
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
