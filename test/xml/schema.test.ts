import { describe, expect, it } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { sample } from '../support/fixture/samples.js';
import { signedDocuments } from '../support/fixture/xml-documents.js';
import { itWith, xmllintAccepts } from '../support/harness/xml-programs.js';
import { schemaFaults } from '../support/schema.js';

const documents = signedDocuments(
  issueCertificate({ subjectName: 'Teste', validDays: 1, now: '2026-11-21T12:00:00.000Z' }),
);
const kinds = ['DPS', 'NFSe', 'pedRegEvento', 'evento'] as const;

const officialSamples = [
  ['DPS', 'dps-01-me-epp-tomador-pj.xml'],
  ['DPS', 'dps-02-me-epp-sem-tomador.xml'],
  ['DPS', 'dps-03-mei-tomador-cpf.xml'],
  ['DPS', 'dps-04-regime-normal-ibscbs.xml'],
  ['DPS', 'dps-05-exportacao.xml'],
  ['DPS', 'dps-06-substituicao.xml'],
  ['NFSe', 'nfse-07-producao-me-epp-cpf.xml'],
  ['NFSe', 'nfse-08-restrita-ibscbs.xml'],
  ['NFSe', 'nfse-10-exportacao-construida.xml'],
  ['pedRegEvento', 'pedregevento-11-cancelamento-e101101.xml'],
  ['evento', 'evento-12-cancelamento-e101101.xml'],
] as const;

const changed = (from: string | RegExp, to: string): Buffer =>
  Buffer.from(documents.DPS.toString('utf8').replace(from, to), 'utf8');

describe('schemaFaults', () => {
  it.each(kinds)('finds no fault in a %s', (kind) => {
    expect(schemaFaults(kind, documents[kind])).toEqual([]);
  });

  for (const [kind, name] of officialSamples) {
    itWith('samples', `finds no fault as ${kind} in ${name}`, () => {
      expect(schemaFaults(kind, sample(name))).toEqual([]);
    });
  }

  itWith('xmllint', 'agrees with xmllint on every kind', () => {
    for (const kind of kinds) xmllintAccepts(documents[kind], kind);
  });

  itWith(['xmllint', 'samples'], 'agrees with xmllint on every sample', () => {
    for (const [kind, name] of officialSamples) xmllintAccepts(sample(name), kind);
  });

  describe('where the official pattern of a key misplaces the letters of a CNPJ', () => {
    const keyed = (key: string) =>
      schemaFaults(
        'pedRegEvento',
        Buffer.from(documents.pedRegEvento.toString('utf8').replace(/(<chNFSe>)[^<]*/, `$1${key}`)),
      );
    const number = '0000000000007261112345678';

    it('takes letters at the places of the CNPJ and at no others', () => {
      expect(keyed(`33045572212ABC34501DE35${number}90`)).toEqual([]);
      expect(keyed(`33045572212345678000195${number}90`)).toEqual([]);
      expect(keyed(`330455AAAAAAAAAAAAAA${'0'.repeat(30)}`)).not.toEqual([]);
      expect(keyed(`330455A2212345678000195${number}90`)).not.toEqual([]);
      expect(keyed(`33045572212345678000195A${number}9`)).not.toEqual([]);
    });
  });

  it('names the element at fault but never its value', () => {
    const faults = schemaFaults('DPS', changed('<CNPJ>11111111000191', "<CNPJ>Maria 'da' Silva"));
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.join()).toContain('CNPJ');
    expect(faults.join()).not.toContain('Maria');
    expect(faults.join()).not.toContain('Silva');
  });

  it.each([
    ['elements out of order', /(<cTribNac>.*<\/cTribNac>)(<xDescServ>.*<\/xDescServ>)/, '$2$1'],
    ['a padded number', '<nDPS>1<', '<nDPS>01<'],
    ['one decimal', '1500.00', '1500.0'],
    ['a line break in Latin-1 text', 'Rua das Flores', 'Rua\ndas Flores'],
    ['a Z stamp', '10:30:00-03:00', '13:30:00Z'],
  ] as const)('finds %s', (_title, from, to) => {
    expect(schemaFaults('DPS', changed(from, to))).not.toEqual([]);
  });

  it('refuses another root, text that is no XML and a document type', () => {
    expect(schemaFaults('NFSe', documents.DPS)).toEqual(['the root element is not NFSe']);
    expect(schemaFaults('DPS', Buffer.from('<DPS>'))).toEqual(['not well-formed']);
    expect(schemaFaults('DPS', Buffer.from('<!DOCTYPE DPS [<!ENTITY a "b">]><DPS>&a;</DPS>'))).toEqual([
      'a document type declaration is not allowed',
    ]);
  });
});
