import { plainName } from '../../domain/common/nearest-name.js';

/** By field of this API: the names that other systems, and the layouts of municipalities, have for the field. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  amount_in_cents: 'valor valorServico valorServicos valorTotal value price preco total vServ',
  description:
    'descricao discriminacao discriminacaoServico xDescServ servico service justificativa xMotivo observacao observacoes informacoesComplementares xInfComp',
  customer: 'cliente tomador toma client buyer borrower recipient destinatario',
  'customer.document': 'cpf cnpj cpfCnpj cnpjCpf documento federalTaxNumber taxNumber',
  'customer.name': 'nome razaoSocial nomeRazaoSocial legalName fullName xNome',
  'customer.tax_id': 'nif vat vatNumber',
  'customer.address': 'endereco',
  'customer.address.street': 'logradouro rua xLgr',
  'customer.address.district': 'bairro xBairro neighborhood',
  'customer.address.city': 'cidade municipio xMun',
  'customer.address.state': 'uf estado province region',
  'customer.address.postal_code': 'cep zip zipCode',
  'customer.address.country': 'pais cPais',
  'foreign_amount.currency': 'moeda tpMoeda',
  reference: 'referencia externalId idExterno idIntegracao codigoInterno pedido orderId',
  service_code: 'codigoServico codigoTributacao codigoTributacaoNacional cTribNac itemListaServico',
  cnae: 'codigoCnae atividade activity',
  reason: 'motivo codigoMotivo cMotivo',
};

/** For each answer that takes the place of a field: the names under which people look for that field. */
const WITHOUT_FIELD: Readonly<Record<string, string>> = {
  'A Idempotency-Key vai no cabeçalho da requisição, não no corpo.': 'idempotencyKey idempotency chaveIdempotencia',
  'Não há webhooks: consulte GET /v1/nfse/{id} até o resultado.':
    'webhook webhooks webhookUrl callback callbackUrl notificationUrl postbackUrl',
  'A competência e a data de emissão são sempre as do recebimento da requisição.':
    'competence competencia dataCompetencia mesCompetencia dCompet dataEmissao issueDate issuedAt dhEmi data date',
  'O serviço não envia mensagens ao cliente: entregue você o PDF da nota.':
    'email mail emails sendEmail enviarEmail telefone phone fone celular',
  'O modo vem da chave: svc_sk_test_ ou svc_sk_live_.':
    'test teste ambiente environment livemode mode tpAmb homologacao sandbox',
  'A empresa que emite é a da chave.': 'company companyId empresa prestador prest emitente provider inscricaoMunicipal',
  'Impostos, retenções e deduções não têm campo: envie em amount_in_cents o valor bruto; uma nota com retenção, dedução ou imunidade é emitida no portal nacional.':
    'iss issqn issRetido issqnRetido valorIss valorIssqn aliquota aliquotaIss pis pisRetido valorPis cofins cofinsRetido valorCofins csll csllRetido csrf ir irrf irRetido irrfRetido retencaoIrrf inss inssRetido valorInss retencao retencoes retencaoIss retencaoInss tpRetISSQN withholdings taxes impostos tributos ibs cbs ibsCbs naturezaOperacao baseCalculo deducoes deducao deductions imunidade exigibilidade exigibilidadeIss tribISSQN',
  'Desconto não tem campo: a nota mostra um só valor, o de amount_in_cents. Pergunte ao contador qual valor enviar; uma nota que precisa mostrar o desconto é emitida no portal nacional.':
    'desconto descontos discount discounts discountInCents valorDesconto descontoIncondicionado vDescIncond descontoCondicionado vDescCond',
  'O regime tributário (MEI, Simples Nacional ou nenhum dos dois) não se envia: o regime é o do cadastro da empresa.':
    'regime regimeTributario regimeEspecialTributacao simplesNacional optanteSimples optanteSimplesNacional mei opSimpNac',
  'Parcelas, vencimento e forma de pagamento não têm campo: se a nota deve mostrá-los, escreva-os em description.':
    'parcela parcelas installments vencimento dataVencimento dueDate pix boleto formaPagamento paymentMethod',
  'O NBS e as classificações do IBS e da CBS não se enviam: são os do cadastro do serviço.':
    'nbs codigoNbs cNBS cst cClassTrib classTrib cIndOp indOp',
  'Obras e eventos não têm campo: a nota de uma obra ou de um evento é emitida no portal nacional.':
    'obra obras cno cei art codigoObra construcaoCivil evento eventos atvEvento',
  'Uma nota não substitui outra: cancele a primeira, espere que o status dela seja canceled e só então emita outra.':
    'substituicao substituir substitui substitutes notaSubstituida nfseSubstituida chaveSubstituida chSubstda',
  'Intermediário e local da prestação não têm campo: a nota que precisa de um deles é emitida no portal nacional.':
    'intermediario interm intermediary localPrestacao cLocPrestacao municipioPrestacao municipioIncidencia municipioServico',
  'Uma nota tem um valor e uma descrição, sem itens.': 'items itens services servicos quantity quantidade',
  'A série e o número são dados pelo serviço.': 'serie series nDps numeroNota numeroRps rps',
};

const byName = (texts: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(texts).flatMap(([text, names]) => names.split(' ').map((name) => [plainName(name), text])));

const fieldByName = byName(OTHER_NAMES);
const sentenceByName = byName(WITHOUT_FIELD);

/** The path of the field for which other systems use the name `key`; undefined when the body in question has no such field. */
export const fieldMeantBy = (key: string, paths: readonly string[]): string | undefined => {
  const path = fieldByName.get(plainName(key));
  return path !== undefined && paths.includes(path) ? path : undefined;
};

/** Says why no field is named like this, or like this in Portuguese; undefined for a name that means nothing known. */
export const sentenceWithoutField = (key: string): string | undefined => sentenceByName.get(plainName(key));

/** Only an export has these fields; a domestic body with one is refused (CODE-nfse.customer_type_conflict). */
export const isOfExports = (path: string): boolean => /^(?:customer\.(?:address|tax_id)|foreign_amount)/.test(path);
