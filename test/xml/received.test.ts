import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate, type KeyAndCertificate } from '../../src/certificates/issue-certificate.js';
import { type AuthorizerDocumentKind, EVENT, NOTE, readAuthorizerDocument } from '../../src/xml/received.js';
import { signDocument } from '../../src/xml/sign.js';
import {
  accessKey,
  dpsId,
  eventAround,
  noteAround,
  signedDocuments,
  unsignedDps,
} from '../support/fixture/xml-documents.js';

let identity: KeyAndCertificate;
let sent: { dps: Buffer; request: Buffer };
beforeAll(() => {
  identity = issueCertificate({ subjectName: 'Teste', validDays: 1, now: '2026-11-21T12:00:00.000Z' });
  const documents = signedDocuments(identity);
  sent = { dps: withoutDeclaration(documents.DPS), request: withoutDeclaration(documents.pedRegEvento) };
});

const withoutDeclaration = (xml: Buffer): Buffer => xml.subarray(xml.indexOf('?>') + 2);

const signedNote = (unsigned: string): Buffer => {
  const id = `NFS${accessKey}`;
  const options = { ...identity, signedElementName: 'infNFSe', id, algorithm: 'exc-c14n-with-comments' } as const;
  return signDocument(unsigned, options).bytes;
};

const signedEvent = (unsigned: string): Buffer => {
  const id = `EVT${accessKey}101101001`;
  const options = { ...identity, signedElementName: 'infEvento', id, algorithm: 'exc-c14n-with-comments' } as const;
  return signDocument(unsigned, options).bytes;
};

const PATHS = [
  'NFSe/infNFSe/nNFSe',
  'NFSe/infNFSe/dhProc',
  'NFSe/infNFSe/DPS/infDPS/toma/CNPJ',
  'NFSe/infNFSe/DPS/infDPS/serv/cServ/xDescServ',
  'NFSe/infNFSe/DPS/infDPS/valores/vServPrest/vServ',
  'NFSe/infNFSe/DPS/Signature/SignatureValue',
  'evento/infEvento/dhProc',
  'evento/infEvento/pedRegEvento/infPedReg/e101101/cMotivo',
  'evento/infEvento/pedRegEvento/Signature/SignatureValue',
];
const ELEMENTS = [
  'NFSe/infNFSe',
  'NFSe/infNFSe/DPS/infDPS',
  'evento/infEvento',
  'evento/infEvento/pedRegEvento/infPedReg',
];

/** Everything that is read of a document, or why nothing is. */
const readWith = (xml: Buffer, kind: AuthorizerDocumentKind, expected?: Uint8Array): unknown => {
  try {
    const read = readAuthorizerDocument(xml, kind, expected);
    if (read === undefined) return 'unreadable';
    const { embeddedDigest, claimedDigest, signatureFault } = read;
    const texts = PATHS.map((path) => read.text(path));
    const ids = ELEMENTS.map((path) => read.attribute(path, 'Id'));
    return { embeddedDigest, claimedDigest, signatureFault, texts, ids };
  } catch {
    return 'thrown';
  }
};

/** Bytes that no document embeds, so that libxml2 alone reads and judges. */
const NOTHING_OF_OURS = Buffer.from('<nothing of ours>');

const exactly = (xml: Buffer, kind: AuthorizerDocumentKind): unknown => readWith(xml, kind, NOTHING_OF_OURS);

describe('a document of the authorizer', () => {
  it('is whole: its values, our digest, and a signature that holds', () => {
    const note = readAuthorizerDocument(signedNote(noteAround(String(sent.dps))), NOTE, sent.dps);
    expect(note).toMatchObject({ signatureFault: undefined, embeddedDigest: note?.claimedDigest });
    expect(note?.text('NFSe/infNFSe/nNFSe')).toBe('1467');
    expect(note?.text('evento/infEvento/dhProc')).toBeUndefined();
    expect(note?.text('NFSe/infNFSe/DPS')).toBeUndefined();
    expect(note?.attribute('NFSe/infNFSe/DPS/infDPS', 'Id')).toBe(dpsId);
    expect(note?.attribute('NFSe/infNFSe/none', 'Id')).toBeUndefined();
    const event = readAuthorizerDocument(signedEvent(eventAround(String(sent.request))), EVENT, sent.request);
    expect(event).toMatchObject({ signatureFault: undefined, embeddedDigest: event?.claimedDigest });
  });

  it('is read alike whether our document is known beforehand or not', () => {
    const note = signedNote(noteAround(String(sent.dps)));
    expect(readWith(note, NOTE, sent.dps)).toEqual(readWith(note, NOTE));
    expect(exactly(note, NOTE)).toEqual(readWith(note, NOTE));
  });

  it('is read exactly when our document stands in it with other bytes, or twice', () => {
    const spaced = signedNote(noteAround(String(sent.dps).replace('<DPS ', '<DPS  ')));
    expect(readWith(spaced, NOTE, sent.dps)).toEqual(exactly(spaced, NOTE));
    expect(readWith(spaced, NOTE, sent.dps)).toMatchObject({ signatureFault: undefined });
    const twice = signedNote(noteAround(`${sent.dps}${sent.dps}`));
    expect(readWith(twice, NOTE, sent.dps)).toEqual(exactly(twice, NOTE));
    expect(readWith(twice, NOTE, sent.dps)).toMatchObject({ embeddedDigest: '' });
    const commented = signedNote(noteAround(`<!--${sent.dps}-->${String(sent.dps).replace('8000', '1')}`));
    expect(readWith(commented, NOTE, sent.dps)).toEqual(exactly(commented, NOTE));
  });
});

const pieces = [
  ['an instruction', '<?alvo dados?>'],
  ['a comment', '<!-- nota -->'],
  ['a CDATA section', '<![CDATA[ <x>&amp; ]]>'],
  ['a character reference', '&#65;'],
  ['white space', ' \n\t '],
  ['a line break of another system', '\r\n'],
  ['a text', 'texto'],
  ['an empty element', '<x/>'],
  ['an element of no name space', '<x xmlns=""/>'],
  ['an element of another name space', '<x xmlns="urn:x"><y/></x>'],
  ['an element with a prefix', '<p:x xmlns:p="urn:p"><p:y/></p:x>'],
  ['a relative name space', '<x xmlns="::"/>'],
  ['attributes of every kind', '<x b="1" a="&lt;" xml:lang="pt" xmlns:q="urn:q" q:a="2"/>'],
  ['a second infDPS', `<infDPS Id="${dpsId}"/>`],
  ['a second Signature', '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>'],
  ['the name of a prototype', '<constructor/>'],
  ['the name of the prototype', '<__proto__/>'],
] as const;

const places = [
  ['in the root', /(<NFSe\b[^>]*>)/],
  ['in what is signed', /(<infNFSe\b[^>]*>)/],
  ['beside our document', /(<DPS\b[^>]*>)/],
  ['in our document', /(<infDPS\b[^>]*>)/],
  ['in a text', /(<dhProc>)/],
  ['in the signature', /(<SignedInfo>)(?!.*<SignedInfo>)/],
  ['in the signature of our document', /(<SignedInfo>)(?=.*<SignedInfo>)/],
  ['in the value of the signature', /(<SignatureValue>)(?!.*<SignatureValue>)/],
  ['in the certificate', /(<X509Certificate>)(?!.*<X509Certificate>)/],
] as const;

const put = (xml: string, place: RegExp, piece: string): string => xml.replace(place, (found) => `${found}${piece}`);

describe.each(pieces)('with %s', (_piece, piece) => {
  it.each(places)('%s it is read and judged as libxml2 alone does', (_place, place) => {
    const note = Buffer.from(put(String(signedNote(noteAround(String(sent.dps)))), place, piece));
    expect(readWith(note, NOTE)).toEqual(exactly(note, NOTE));
    expect(readWith(note, NOTE, sent.dps)).toEqual(exactly(note, NOTE));
  });

  it.each(places.slice(0, 5))('%s before the authorizer signed, too', (_place, place) => {
    const unsigned = put(noteAround(String(sent.dps)), place, piece);
    let note: Buffer;
    try {
      note = signedNote(unsigned);
    } catch {
      // What cannot be signed cannot be received with a signature that holds.
      return;
    }
    expect(readWith(note, NOTE)).toEqual(exactly(note, NOTE));
    expect(readWith(note, NOTE, sent.dps)).toEqual(exactly(note, NOTE));
  });
});

describe('a damaged document', () => {
  const fragment = fc.constantFrom('', '<', '>', '"', '/', ' ', '&amp;', '\n', '<x/>', 'xmlns=""', 'Id="1"', '\u00e9');

  it('is read and judged as libxml2 alone does, wherever the damage is', () => {
    const note = String(
      signedNote(noteAround(unsignedDps.replace('</DPS>', String(sent.dps).replace(/.*<\/infDPS>/, '')))),
    );
    const event = String(signedEvent(eventAround(String(sent.request))));
    fc.assert(
      fc.property(
        fc.constantFrom([note, NOTE] as const, [event, EVENT] as const),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(30),
        fragment,
        ([whole, kind], at, cut, inserted) => {
          const begin = Math.floor(at * whole.length);
          const damaged = Buffer.from(whole.slice(0, begin) + inserted + whole.slice(begin + cut));
          expect(readWith(damaged, kind)).toEqual(exactly(damaged, kind));
        },
      ),
      { numRuns: 300 },
    );
  });
});
