import { type Instant, isBefore } from '../../common/time.js';
import { areaReasons, areas, reasonsOf } from './areas.js';

const RATE_SURPLUS =
  'não se informa alíquota de ISS na nota. Peça ao suporte que confira o regime e a atividade da empresa.';
const RATE_MISSING = 'a nota precisa da alíquota do ISS. Pergunte ao contador qual é e informe ao suporte.';

/** Amounts, the rate of the ISS, withholding and approximate taxes (docs/national-system.md#amounts, #issqn, #approximate-taxes). */
const taxReasons: Readonly<Record<string, string>> = {
  E0031: 'O cliente não pode reter o ISS neste município. Confirme com o contador e fale com o suporte.',
  E0032: 'O intermediário não pode reter o ISS neste município. Confirme com o contador e fale com o suporte.',
  E0427: 'Os descontos e as deduções passam do valor do serviço. Confira amount_in_cents e emita de novo.',
  E0580: 'Esta operação não paga ISS e por isso não pode ter retenção. Confirme com o contador e fale com o suporte.',
  E0583: 'O MEI não tem retenção do ISS. Peça ao suporte que a retire do cadastro.',
  E0588: 'Com o regime especial de ISS da empresa não há retenção. Confirme com o contador e fale com o suporte.',
  E0595: 'A alíquota do ISS passa de 5%, o máximo da lei. Pergunte ao contador a alíquota certa e informe ao suporte.',
  E0600: `Para o MEI ${RATE_SURPLUS}`,
  E0602: `Em exportação, imunidade ou não incidência ${RATE_SURPLUS}`,
  E0604: `Com regime especial de ISS ${RATE_SURPLUS}`,
  E0612: `Com este benefício do município ${RATE_SURPLUS}`,
  E0617: `Neste município, para empresa fora do Simples, ${RATE_SURPLUS}`,
  E0619: `O município do serviço não está ativo no sistema nacional e ${RATE_MISSING}`,
  E0621: `O ISS é retido pelo cliente e ${RATE_MISSING}`,
  E0625: `Sem retenção, para empresa que recolhe o ISS pelo Simples, ${RATE_SURPLUS}`,
  E0628: `O município do serviço não está ativo no sistema nacional, há retenção e ${RATE_MISSING}`,
  E0631: `Mesmo com o município fora do sistema nacional, sem retenção e com o ISS no Simples, ${RATE_SURPLUS}`,
  E0635: `Neste município, para empresa com o ISS fora do Simples, ${RATE_SURPLUS}`,
  E0640: `A empresa recolhe o ISS fora do Simples e ${RATE_MISSING}`,
  E0667:
    'O município não permite que este cliente com CPF retenha o ISS. Confirme a retenção com o contador e fale com o suporte.',
  E0710: 'O MEI não informa o percentual aproximado de tributos. Peça ao suporte que o retire do cadastro da empresa.',
  E0712: 'Falta o percentual aproximado de tributos da empresa do Simples. Pergunte ao contador e informe ao suporte.',
  E0713:
    'O percentual aproximado de tributos do Simples não vale para empresa fora dele. Peça ao suporte que corrija o cadastro.',
};

const CONFIRM_CLASSIFICATION = 'Pergunte ao contador qual classificação vale e informe ao suporte.';

/** Operation and classification for IBS and CBS (docs/national-system.md#classifications). */
const ibsCbsReasons: Readonly<Record<string, string>> = {
  E0901:
    'O indicador da operação para IBS e CBS deste serviço não está na tabela nacional. Peça ao suporte que o corrija.',
  E0903:
    'Este serviço exige para IBS e CBS o tipo da operação, que este emissor não envia. Emita esta nota no portal nacional ou fale com o suporte.',
  E0958: `A classificação para IBS e CBS deste serviço não é aceita em notas de serviço. ${CONFIRM_CLASSIFICATION}`,
  E0964: `A classificação para IBS e CBS deste serviço não admite outra ao lado dela. ${CONFIRM_CLASSIFICATION}`,
  E0965: `A classificação para IBS e CBS deste serviço exige outra ao lado dela. ${CONFIRM_CLASSIFICATION}`,
  E0969: `A segunda classificação para IBS e CBS deste serviço não é aceita em notas de serviço. ${CONFIRM_CLASSIFICATION}`,
  E0972: `A classificação para IBS e CBS deste serviço exige o diferimento, que este emissor não envia. ${CONFIRM_CLASSIFICATION}`,
};

const SUSPENDED = 'com a cobrança do ISS suspensa por decisão judicial ou administrativa';
const SUSPENSION = 'Confirme a suspensão com o contador e fale com o suporte.';
const CLASSIFICATION = 'Peça ao suporte que confira a atividade da empresa.';
const COMPUTED = `O sistema nacional calculou IBS e CBS de um modo que não combina com a classificação da nota. ${CLASSIFICATION}`;

/** Codes that are in other versions of the annexes than those of the catalogue (docs/national-system.md#codes-of-other-versions). */
const otherVersionReasons: Readonly<Record<string, string>> = {
  E0063:
    'A nota substituta muda um dado que a substituição não permite mudar. Fale com o suporte antes de emitir outra.',
  E0430: 'Um desconto, que este emissor não envia, deixaria o ISS da nota abaixo do mínimo de 2%. Fale com o suporte.',
  E0437: `Não cabem deduções na nota ${SUSPENDED}. ${SUSPENSION}`,
  E0538: `Não cabe benefício municipal na nota ${SUSPENDED}. ${SUSPENSION}`,
  E0589: `O cliente não pode reter o ISS ${SUSPENDED}. ${SUSPENSION}`,
  E0606: `Não se informa alíquota do ISS na nota ${SUSPENDED}. ${SUSPENSION}`,
  E0859: `O indicador da operação para IBS e CBS não combina com a classificação da nota. ${CLASSIFICATION}`,
  E0860: `O indicador da operação para IBS e CBS não combina com a classificação da nota. ${CLASSIFICATION}`,
  E0960: `As informações de IBS e CBS da nota não combinam com a classificação dela. ${CLASSIFICATION}`,
  E0961: `As informações de IBS e CBS da nota não combinam com a classificação dela. ${CLASSIFICATION}`,
  E1281:
    'O CNPJ da empresa não era de MEI na data da competência. Confira o regime com o contador e peça ao suporte que corrija o cadastro.',
  E1518: COMPUTED,
  E1524: COMPUTED,
  E1525: COMPUTED,
  E1526: COMPUTED,
  E1562: COMPUTED,
  E1563: COMPUTED,
  E1573: COMPUTED,
  E1574: COMPUTED,
};

/** The service, its codes, and exports (docs/national-system.md#service, #foreign-trade, #export). */
const serviceReasons: Readonly<Record<string, string>> = {
  E0302: 'O município onde o serviço foi prestado não existe na tabela oficial. Fale com o suporte.',
  E0304: 'O país onde o serviço foi prestado não é aceito. Confira customer.address.country e emita de novo.',
  E0310: 'O código de serviço não existe na lista nacional. Fale com o suporte.',
  E0312:
    'O município não administra este código de serviço, ou só com um código municipal. Não troque o serviço prestado: peça ao suporte que confira o código municipal do cadastro.',
  E0314:
    'O município não conhece o código municipal usado para este serviço. Pergunte à prefeitura qual vale e informe ao suporte.',
  E0315: 'O código municipal do serviço está em branco no cadastro da atividade. Peça ao suporte que o corrija.',
  E0316: 'O código NBS da atividade não existe na tabela nacional. Fale com o suporte.',
  E0318:
    'A exportação exige o código NBS, que falta na atividade. Peça ao suporte que o inclua; não use o código de outro serviço.',
  E0320:
    'Este serviço exige o código NBS, que falta na atividade. Peça ao suporte que o inclua; não use o código de outro serviço.',
  E0322: 'As informações de IBS e CBS exigem o código NBS, que falta na atividade. Peça ao suporte que o inclua.',
  E0330:
    'Faltam as informações de comércio exterior da exportação. Envie foreign_amount com moeda e valor e emita de novo.',
  E0370:
    'Serviços de construção exigem os dados da obra, que este emissor não envia. Emita esta nota no portal nacional ou fale com o suporte.',
  E0390:
    'Serviços de eventos exigem os dados do evento, que este emissor não envia. Emita esta nota no portal nacional ou fale com o suporte.',
  E0529:
    'Para o sistema nacional este serviço não é exportação, e o ISS é devido no Brasil. Confirme com o contador antes de emitir de novo.',
  E0540:
    'O município não cobra ISS deste serviço, e a nota teria de declarar isso, o que este emissor não faz. Emita esta nota no portal nacional ou fale com o suporte; não use o código de outro serviço.',
  E0590: 'Falta o país onde o serviço teve resultado. Confira o endereço do cliente no exterior e fale com o suporte.',
  E0591: 'O país do resultado do serviço não se informa neste caso. Seus dados estão certos: fale com o suporte.',
};

/** The issuing company: its registrations and tax regime (docs/national-system.md#provider, #tax-regimes). */
const providerReasons: Readonly<Record<string, string>> = {
  E0080: 'O CNPJ da empresa está incorreto no cadastro do emissor. Peça ao suporte que o corrija.',
  E0082:
    'O CNPJ da empresa não foi encontrado na Receita Federal na data da competência. Confira a situação do CNPJ e fale com o suporte.',
  E0084:
    'A empresa não consta como estabelecida no município de emissão. Confira o endereço do CNPJ e a inscrição na prefeitura e fale com o suporte.',
  E0116:
    'O município exige a inscrição municipal do prestador, igual à que ele registrou no cadastro nacional. Confira-a na prefeitura, informe-a ao suporte e emita de novo.',
  E0119:
    'A prefeitura ainda não autorizou a inscrição municipal da empresa a emitir notas. Peça a autorização à prefeitura e emita de novo.',
  E0120:
    'A inscrição municipal informada não existe no cadastro nacional do município. Peça ao suporte que a corrija ou retire.',
  E0121: 'O programa enviou o nome da empresa onde ele não cabe. Seus dados estão certos: fale com o suporte.',
  E0124:
    'A inscrição municipal da empresa está inativa na data da competência. Regularize-a na prefeitura e emita de novo.',
  E0128: 'O programa enviou o endereço da empresa onde ele não cabe. Seus dados estão certos: fale com o suporte.',
  E0160: 'O regime tributário do cadastro difere do registrado no Simples Nacional. Peça ao suporte que o corrija.',
  E0162:
    'O cadastro da empresa indica uma apuração própria do Simples que não vale para MEI nem para quem está fora do Simples. Peça ao suporte que a corrija.',
  E0166:
    'Falta no cadastro da empresa como ela apura os tributos no Simples Nacional. Pergunte ao contador e informe ao suporte.',
  E0172:
    'A empresa tem um regime especial de ISS que não se aplica a este tipo de operação. Confirme com o contador e fale com o suporte.',
  E0174: 'O cadastro da empresa indica um regime especial de ISS, que o MEI não tem. Peça ao suporte que o retire.',
  E0175:
    'O cadastro da empresa indica um regime especial de ISS, que não vale para quem recolhe tudo pelo Simples. Confirme com o contador e fale com o suporte.',
  E0176:
    'A prefeitura não registra o prestador como profissional autônomo. Confirme com a prefeitura e fale com o suporte.',
  E0177:
    'O município não aceita o regime especial de ISS do cadastro da empresa. Confirme com o contador e fale com o suporte.',
  E0178:
    'O regime especial de ISS da empresa não vale para este serviço. Confirme o regime com o contador e fale com o suporte.',
};

/** Times, numbers and the municipality's convênio (docs/national-system.md#times, #series-and-numbers, #municipal-parameters). */
const emissionReasons: Readonly<Record<string, string>> = {
  E0001:
    'O formato do documento enviado deixou de ser aceito. É o programa que precisa ser atualizado: fale com o suporte.',
  E0004:
    'A identificação do documento foi montada de forma incorreta pelo programa. Seus dados estão certos: fale com o suporte.',
  E0006: 'O documento foi enviado ao ambiente errado (teste ou produção). Seus dados estão certos: fale com o suporte.',
  E0008: 'A data de emissão ficou adiante do relógio do sistema nacional. Emita de novo em alguns minutos.',
  E0010:
    'A série de numeração da empresa não é permitida para emissão por programa próprio. Peça ao suporte que a troque.',
  E0014: 'O sistema nacional já tem uma nota com este número. Não emita de novo: fale com o suporte.',
  E0015: 'A competência ficou posterior à data de emissão. Emita de novo; se a recusa se repetir, fale com o suporte.',
  E0016:
    'A competência é anterior à entrada do município no sistema nacional. Emita esta nota no sistema da prefeitura ou fale com o suporte.',
  E0018: 'A competência é anterior à abertura do CNPJ da empresa. Confira a data de abertura e fale com o suporte.',
  E0020: 'A competência é anterior à inscrição do CPF do prestador. Fale com o suporte.',
  E0023:
    'Na data da competência a inscrição municipal da empresa ainda não valia. Confira na prefeitura desde quando ela vale e fale com o suporte.',
  E0025:
    'Na data da competência a empresa ainda não estava autorizada a emitir pelo sistema nacional. Peça a autorização à prefeitura.',
  E0029:
    'O programa enviou um motivo de emissão que só cabe a quem não prestou o serviço. Seus dados estão certos: fale com o suporte.',
  E0034:
    'O programa citou uma nota rejeitada, o que não cabe nesta emissão. Seus dados estão certos: fale com o suporte.',
  E0035:
    'O programa citou uma nota rejeitada, o que não cabe nesta emissão. Seus dados estão certos: fale com o suporte.',
  E0037: 'O município do prestador não está no cadastro do convênio nacional. Fale com o suporte.',
  E0038: 'O convênio do município do prestador não está ativo. Fale com o suporte.',
  E0039: 'O município do prestador não usa o emissor nacional. Fale com o suporte.',
  E0041:
    'O município de emissão não é o do endereço do MEI no CNPJ. Confira o endereço no Portal do Empreendedor e peça ao suporte que corrija o cadastro.',
  E1294: 'O prazo para registrar a nota no sistema nacional terminou. Fale com o suporte.',
  E9996:
    'A nota só pode ser emitida por quem prestou o serviço. Confira se a empresa emissora é a prestadora e fale com o suporte.',
};

const PROGRAM = 'É uma falha do programa emissor, não dos seus dados: fale com o suporte.';
const CERTIFICATE = 'Envie ao suporte um certificado A1 válido da empresa e emita de novo.';

/** Signature, certificate and form of what was sent (docs/national-system.md#signature-faults, #certificates, #document-form). */
const documentReasons: Readonly<Record<string, string>> = {
  E0714: `A assinatura digital da nota não foi aceita. ${PROGRAM}`,
  E0715: `O certificado digital da empresa não foi aceito: pode estar vencido ou revogado. ${CERTIFICATE}`,
  E0716: `O certificado digital não é do tipo aceito (e-CNPJ da ICP-Brasil). ${CERTIFICATE}`,
  E0717: `A nota chegou sem assinatura digital. ${PROGRAM}`,
  E0718: `O certificado digital usado é de outra empresa. ${CERTIFICATE}`,
  E1200: `O certificado digital da empresa não foi aceito na conexão. ${CERTIFICATE}`,
  E1203: `O certificado digital da empresa venceu. ${CERTIFICATE}`,
  E1205: `O certificado digital veio sem a cadeia da autoridade que o emitiu. ${CERTIFICATE}`,
  E1206:
    'O sistema nacional não conseguiu conferir o certificado da empresa agora. Aguarde alguns minutos; se continuar, fale com o suporte.',
  E1207: `O certificado digital da empresa foi revogado. ${CERTIFICATE}`,
  E1208: `O certificado digital não é da ICP-Brasil. ${CERTIFICATE}`,
  E1209: `O certificado digital não traz o CNPJ da empresa. ${CERTIFICATE}`,
  E1217: 'O sistema nacional está em manutenção. Aguarde alguns minutos; se continuar, fale com o suporte.',
  E1225: `O documento chegou danificado ao sistema nacional. ${PROGRAM}`,
  E1226: `O documento chegou incompleto ao sistema nacional. ${PROGRAM}`,
  E1228: `O documento foi escrito fora da forma exigida. ${PROGRAM}`,
  E1229: `O texto do documento foi escrito em codificação não aceita. ${PROGRAM}`,
  E1235: `Um dado da nota não cabe na forma exigida. Confira se a descrição e o nome do cliente têm caracteres incomuns; se não, fale com o suporte.`,
  E1242: `O sistema nacional não reconheceu o tipo do documento. ${PROGRAM}`,
  E6154: `O texto do documento foi escrito em codificação não aceita. ${PROGRAM}`,
  E6155: `O documento foi escrito fora da forma exigida. ${PROGRAM}`,
  E999: 'O sistema nacional teve um erro sem explicação. Aguarde alguns minutos; se continuar, fale com o suporte.',
  RNG6110: `Um dado da nota não cabe na forma exigida. Confira se a descrição e o nome do cliente têm caracteres incomuns; se não, fale com o suporte.`,
  RNG6159: `O sistema nacional não reconheceu o documento enviado. ${PROGRAM}`,
  RNG9997: `Um dado da nota não cabe na forma exigida. Confira se a descrição e o nome do cliente têm caracteres incomuns; se não, fale com o suporte.`,
  RNG9999: 'O sistema nacional teve um erro sem explicação. Aguarde alguns minutos; se continuar, fale com o suporte.',
};

/** The customer: fields of the API's `customer`, and its address in Brazil, from the tax registry (docs/national-system.md#customer). */
const customerReasons: Readonly<Record<string, string>> = {
  E0187: 'Este serviço exige que o cliente seja identificado. Envie customer com documento e nome e emita de novo.',
  E0188: 'O CNPJ do cliente é inválido. Corrija customer.document e emita de novo.',
  E0190: 'O CNPJ do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.',
  E0202: 'O cliente não pode ser o próprio prestador. Corrija customer.document e emita de novo.',
  E0204: 'Há retenção do ISS e o cliente não está identificado. Envie customer.document e emita de novo.',
  E0206: 'O CPF do cliente é inválido. Corrija customer.document e emita de novo.',
  E0207: 'O CPF do cliente não existe na Receita Federal. Corrija customer.document e emita de novo.',
  E0223:
    'O cliente estrangeiro precisa de um identificador fiscal do seu país ou do motivo de não o ter. Envie customer.tax_id ou customer.tax_id_absence_reason.',
  E0226:
    'O motivo de o cliente não ter identificador fiscal não é aceito. Corrija customer.tax_id_absence_reason e emita de novo.',
  E0232: 'O programa enviou uma inscrição municipal do cliente que o município desconhece. Fale com o suporte.',
  E0233: 'Falta o nome do cliente estrangeiro. Envie customer.name e emita de novo.',
  E0234:
    'Este serviço exige o endereço do cliente, que não tem campo na API. Para um CPF, emita a nota no portal nacional; para um CNPJ, fale com o suporte.',
  E0235: 'O sistema nacional exige o endereço do cliente com CNPJ. Fale com o suporte.',
  E0237: 'O ISS é retido pelo cliente e falta o endereço dele. Fale com o suporte.',
  E0238:
    'O município do endereço que temos do cliente em cadastro não existe. Peça ao suporte que o corrija e emita de novo.',
  E0240:
    'O CEP que temos do cliente em cadastro não existe ou é de outro município. Peça ao suporte que o corrija e emita de novo.',
  E0242: 'Falta o endereço do cliente no exterior. Envie customer.address completo e emita de novo.',
  E0246:
    'O país do endereço do cliente não é aceito. Corrija customer.address.country com o código de duas letras e emita de novo.',
};

/**
 * Cancellation of a note; most limits are the municipality's (docs/national-system.md#cancellation-codes). E1260, E1274 and E1278 are codes of
 * notes too: their texts fit both.
 */
const cancellationReasons: Readonly<Record<string, string>> = {
  E0802: 'O sistema nacional já tem um pedido igual a este. Aguarde a confirmação ou fale com o suporte.',
  E0812: 'O certificado usado não é da empresa que emitiu a nota. Envie ao suporte o certificado A1 da empresa.',
  E0813: 'Só quem emitiu a nota pode pedir o cancelamento. Fale com o suporte.',
  E0822: 'O prazo do município para cancelar a nota terminou. Peça o cancelamento à prefeitura.',
  E0823:
    'O valor da nota passa do limite que o município permite cancelar sem análise. Peça o cancelamento à prefeitura.',
  E0824: 'O município não permite cancelar nota sem cliente identificado. Peça o cancelamento à prefeitura.',
  E0827:
    'Os tributos da nota já foram recolhidos, e o município não permite mais cancelá-la. Fale com o contador ou com a prefeitura.',
  E0831: 'A nota foi gerada em outro ambiente e só lá pode ser cancelada. Fale com o suporte.',
  E0840:
    'Outro evento já está vinculado à nota e impede o cancelamento. Veja na consulta pública da NFS-e qual é ou pergunte à prefeitura.',
  E1260:
    'O formato do documento enviado deixou de ser aceito. É o programa que precisa ser atualizado: fale com o suporte.',
  E1274: 'O documento não é do ambiente que o recebeu. Seus dados podem estar certos: fale com o suporte.',
  E1278:
    'A hora do documento ficou adiante do relógio do sistema nacional. Seus dados podem estar certos: fale com o suporte.',
  E1831: 'O sistema nacional não encontrou a nota a cancelar. Fale com o suporte.',
  E1843: 'A hora do pedido ficou adiante do relógio do sistema nacional. Peça de novo em alguns minutos.',
};

/** Texts for the codes met most. A map, because codes come from outside. */
export const ownReasons: ReadonlyMap<string, string> = new Map(
  [
    emissionReasons,
    providerReasons,
    customerReasons,
    serviceReasons,
    taxReasons,
    ibsCbsReasons,
    otherVersionReasons,
    documentReasons,
    cancellationReasons,
  ].flatMap((reasons) => Object.entries(reasons)),
);

/**
 * The text for a shop owner about a code of the national system: what is wrong, and what to do. It never quotes the system. Undefined for
 * an uncatalogued code.
 */
export const reasonOf = (code: string): string | undefined => ownReasons.get(code) ?? areaReasons.get(code);

/**
 * As `reasonOf`, for a cancellation. Texts about a note say to correct it and issue it again, which is wrong after a failed cancellation
 * (CXL-separate). Their codes get the text of refused requests.
 */
export const cancellationReasonOf = (code: string): string | undefined =>
  reasonOf(code) === undefined
    ? undefined
    : (ownCancellationReasons.get(code) ?? requestReasons.get(code) ?? areas.event.reason);

const ownCancellationReasons: ReadonlyMap<string, string> = new Map(Object.entries(cancellationReasons));

/** The areas that are about any signed request, not about a note. */
const requestReasons = reasonsOf([areas.signature, areas.certificate, areas.payload, areas.unavailable, areas.query]);

/**
 * The most specific text of several codes: of the first code with its own text, else of the first catalogued code. E0008 counts where no other code has
 * a text: its text says to issue again, which cannot succeed while another code stays. `at`: when the invoice failed, because a replay of the log shows
 * the text that a client was shown.
 */
export const mainReason = (codes: readonly string[], at: Instant): string | undefined => {
  const hasOwn = (code: string): boolean =>
    ownReasons.has(code) && !(OF_AREA_BEFORE.has(code) && isBefore(at, TEXTS_OF_DECEMBER_2026));
  const others = codes.filter((one) => one !== CLOCK_AHEAD);
  const code = mainCode(others, hasOwn) ?? mainCode(codes, hasOwn);
  if (code === undefined) return undefined;
  const earlier = earlierReasons.get(code);
  if (earlier !== undefined && isBefore(at, earlier.until)) return earlier.text;
  return hasOwn(code) ? ownReasons.get(code) : areaReasons.get(code);
};

const EARLIER_SERVICE =
  'O sistema nacional não aceitou os dados do serviço. Confira a atividade (cnae, service_code) e emita de novo; se a recusa se repetir, fale com o suporte.';

type EarlierReason = {
  /** The first instant of the text of today. */
  until: Instant;
  text: string;
};

/** From this instant on no text advises another activity than that of the service, and the codes of `OF_AREA_BEFORE` have their own texts. */
export const TEXTS_OF_DECEMBER_2026: Instant = '2026-12-01T00:00:00.000Z';

/** Texts that clients were shown of invoices that failed before `until`. */
const earlierReasons: ReadonlyMap<string, EarlierReason> = new Map([
  [
    'E0312',
    {
      until: '2026-11-30T00:00:00.000Z',
      text: 'O município não administra este código de serviço. Use outra atividade ou fale com o suporte.',
    },
  ],
  ...Object.entries({
    E0116: 'O município exige a inscrição municipal do prestador. Informe-a ao suporte e emita de novo.',
    E0178:
      'O regime especial de ISS da empresa não vale para este serviço. Use outra atividade (cnae) ou confirme o regime com o contador.',
    E0234:
      'Para este serviço o município exige o endereço do cliente. Confira o cadastro do cliente e fale com o suporte.',
    E0318:
      'A exportação exige o código NBS, que falta na atividade. Peça ao suporte que o inclua ou use outra atividade.',
    E0320:
      'Este serviço exige o código NBS, que falta na atividade. Peça ao suporte que o inclua ou use outra atividade.',
    E0420: EARLIER_SERVICE,
    E1402: EARLIER_SERVICE,
  }).map(([code, text]) => [code, { until: TEXTS_OF_DECEMBER_2026, text }] as const),
]);

const CLOCK_AHEAD = 'E0008';

/** Codes that had the text of their area until then, so that the text of another code came before theirs. */
const OF_AREA_BEFORE: ReadonlySet<string> = new Set(['E0540', ...Object.keys(ibsCbsReasons)]);

const mainCode = (codes: readonly string[], hasOwn: (code: string) => boolean): string | undefined =>
  codes.find(hasOwn) ?? codes.find((code) => areaReasons.has(code));
