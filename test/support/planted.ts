import { randomBytes } from 'node:crypto';

/** Words that occur nowhere else, so that one of them in a log line was leaked. */
export type Planted = ReturnType<typeof plant>;

const mark = (name: string): string => `${name}-${randomBytes(6).toString('hex')}`;

/** Documents with good check digits; everything else is random. */
export const plant = () => ({
  cpf: '11144477735',
  cnpj: '11222333000181',
  customerName: mark('Cliente'),
  registryName: mark('Registrado'),
  foreignName: mark('Foreigner'),
  taxId: mark('TAX'),
  street: mark('Street'),
  description: mark('Serviço de'),
  cancelDescription: mark('Cancelado por'),
  reference: mark('pedido'),
  idempotencyKey: mark('chave'),
  unknownKey: `svc_sk_test_${randomBytes(20).toString('hex')}`,
  badKey: mark('nenhuma-chave'),
  downloadToken: mark('token'),
  authorizerText: mark('Tomador recusado'),
  certificatePassword: mark('senha'),
  wrongPassword: mark('errada'),
  pathSegment: mark('caminho'),
  fieldName: mark('campo'),
});

/** The ways in which a text may stand in a line: as it is, in JSON, in an address, as base64, or a document with its dots. */
export const spellings = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  ...(/^\d{11}$/.test(secret) ? [secret.replace(/^(\d{3})(\d{3})(\d{3})(\d{2})$/, '$1.$2.$3-$4')] : []),
  ...(/^\d{14}$/.test(secret) ? [secret.replace(/^(\d{2})(\d{3})(\d{3})(\d{4})(\d{2})$/, '$1.$2.$3/$4-$5')] : []),
];
