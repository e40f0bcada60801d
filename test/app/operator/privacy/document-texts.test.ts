import { describe, expect, it } from 'vitest';
import { xmlNames } from '../../../../src/app/operator/privacy/document.js';

const cpf = { kind: 'cpf', text: '11144477735' } as const;

describe('a person in an XML document', () => {
  it.each([
    ['as a number', '<toma><CPF>11144477735</CPF></toma>'],
    ['under a prefix', '<n:toma><n:CPF>11144477735</n:CPF></n:toma>'],
    ['as the author of an event', '<CPFAutor>11144477735</CPFAutor>'],
    ['in a legal name', '<xNome>JOAO 11144477735 MEI</xNome>'],
    ['in an address', '<end><nro>111.444.777-35</nro></end>'],
    ['in a section of characters', '<xInfComp><![CDATA[CPF <111.444.777-35>]]></xInfComp>'],
    ['by references', '<xMotivo>CPF 111&#46;444&#x2E;777&amp;35</xMotivo>'],
    ['in an element with attributes', '<xDescServ a="b">111 444 777 35</xDescServ>'],
  ])('is found %s', (_where, xml) => {
    expect(xmlNames(`<?xml version="1.0"?><NFSe>${xml}</NFSe>`, cpf)).toBe(true);
  });

  it.each([
    ['a key', '<chNFSe>33045572211144477735000000000000125031234567892</chNFSe>'],
    ['a telephone', '<fone>11144477735</fone>'],
    ['an id', '<infNFSe Id="NFS11144477735"><nNFSe>11144477735</nNFSe></infNFSe>'],
    ['a signature', '<Signature><DigestValue>11144477735</DigestValue></Signature>'],
    ['a comment', '<xNome><!-- 11144477735 -->JOAO</xNome>'],
    ['the text of another person', '<CPF>52998224725</CPF><xNome>MARIA</xNome>'],
    ['a reference to no character', '<xNome>111444777&#9999999;36</xNome>'],
  ])('is not found in %s', (_where, xml) => {
    expect(xmlNames(`<NFSe>${xml}</NFSe>`, cpf)).toBe(false);
  });
});
