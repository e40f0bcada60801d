/** The codes met most, word for word from annexes I and II of layout 1.01 and from observed answers, misspellings included. */
export const OFFICIAL = {
  E0004: 'Conteúdo do identificador informado na DPS difere da concatenação dos campos correspondentes.',
  E0006: 'Ambiente informado diverge do ambiente de recebimento para o qual o emitente enviou a DPS.',
  E0008:
    'A data e hora de emissão da DPS deve ser anterior ou igual à data do seu processamento (dhProc) pelo Sistema Nacional NFS-e.',
  E0010: 'A série informada na DPS não pertence à faixa definida para o tipo de emissor utilizado para a sua emissão.',
  E0014:
    'Conjunto de Série, Número, Código do Município Emissor e CNPJ/CPF informado nesta DPS já existe em uma NFS-e gerada a partir de uma DPS enviada anteriormente.',
  E0015: 'A data de competência informada na DPS não pode ser posterior à data de emissão (dhEmi) da DPS.',
  E0037:
    'O código do município emissor informado na DPS é inexistente no cadastro de convênio municipal do sistema nacional.',
  E0038:
    'A situação do convênio do município emissor informado na DPS deve ser "ATIVO" no cadastro de convênio municipal do sistema nacional.',
  E0039:
    'O município emissor informado na DPS deve estar parametrizado para utilizar os emissores públicos nacionais, conforme parametrização do município no Sistema Nacional NFS-e.',
  E0112: 'O prestador de serviço, quando emitente da DPS, não pode ser identificado pelo NIF.',
  E0114: 'O prestador de serviço, quando emitente da DPS, somente pode ser identificado pelo CNPJ ou CPF.',
  E0115:
    'Valor 0 para o motivo da não informação do NIF do prestador não é permitido na Sefin do Sistema Nacional NFS-e.',
  E0116:
    'A IM deve ser informada para o emitente prestador do serviço na DPS, conforme informações complementares registradas no CNC NFS-e do município emissor informado na DPS.',
  E0119:
    'IM do emitente prestador não está autorizado a emitir NFS-e, conforme informações complementares registradas no CNC NFS-e do município emissor informado na DPS.',
  E0120:
    'IM do prestador não deve ser informado, pois não existem informações complementares registradas no CNC NFS-e do município emissor informado na DPS.',
  E0121: 'O nome ou razão social do prestador não deve ser informado quando o emitente da DPS for o próprio prestador.',
  E0128:
    'O endereço do prestador do serviço não deve ser informado na DPS quando o próprio prestador for o emitente da DPS.',
  E0160:
    'No mês de competência da NFS-e, a opção de situação perante o Simples Nacional, do prestador, informada na DPS não está de acordo com o cadastro Simples Nacional.',
  E0162:
    'Não é permitido ao não optante do Simples Nacional e o MEI preencherem o campo de indicação do regime de apuração dos tributos apurados.',
  E0166:
    'É obrigatorio o preenchimento do campo de regime de apuração dos tributos do SN para o optante do Simples Nacional ME/EPP.',
  E0172:
    'O Regime Especial de Tributação deve ser "Nenhum" (regEspTrib = 0) quando o serviço prestado for diferente de Tributável (tribISSQN = 1), ou seja, tribISSQN = 2, 3 ou 4.',
  E0174:
    'Quando o prestador da NFS-e é MEI (opSimpNac = 2) o regime especial de tributação deve ser "Nenhum" (regEspTrib = 0).',
  E0175:
    'Quando o prestador optante pelo Simples Nacional tiver o regime de apuração dos tributos ocorrendo também pelo Simples Nacional, o regime especial de tributação do ISSQN deve ser "Nenhum" (regEspTrib = 0).',
  E0187:
    'O grupo de informações relativas ao tomador/adquirente do serviço é obrigatório para o indicador de operação informado.',
  E0188: 'CNPJ do tomador informado na DPS é inválido.',
  E0202: 'Na emissão da NFS-e não é permitido que o prestador do serviço seja igual ao tomador do serviço.',
  E0206: 'CPF do tomador informado na DPS é inválido.',
  E0223:
    'O NIF ou cNaoNIF do tomador deve ser informado quando o grupo de informações de endereço no exterior do tomador de serviços foi informado.',
  E0226:
    'Valor 0 para o motivo da não informação do NIF do tomador não é permitido na Sefin do Sistema Nacional NFS-e.',
  E0246:
    'O código de país informado para o endereço no exterior do tomador do serviço não existe ou é igual ao código do Brasil. Informe um código de país existente e diferente do codigo do Brasil (BR) para o endereço no exterior do tomador do serviço, conforme tabela de país do ANEXO_A-MUNICIPIO_IBGE-PAISES_ISO2-SNNFSe-ESPEC.',
  E0310:
    'O código de tributação nacional informado não existe conforme a lista de serviços nacional do Sistema Nacional NFS-e.',
  E0312:
    'O código de tributação nacional informado não está administrado pelo município de incidência do ISSQN na data de competência informada na DPS, conforme a lista de serviços nacional do Sistema Nacional NFS-e.',
  E0315: 'Não é permitido informar 000 para o codigo de tributação municipal na DPS.',
  E0316: 'Código da lista NBS informado inexistente tabela de NBS do sistema.',
  E0318: 'É obrigatório informar na DPS um item da NBS para casos de exportação de serviço.',
  E0322: 'É obrigatório informar na DPS um item da NBS se for declarada qualquer informação de IBS/CBS.',
  E0330: 'É obrigatório prestar informações de comércio exterior para as situações de exportação de serviços.',
  E0580:
    'Não é permitido haver retenção quando o campo referente à tributação do ISSQN indicar imunidade, exportação ou não incidência.',
  E0583:
    'Não é permitido retenção do ISSQN para o prestador do serviço que seja MEI na data de competência informada na DPS.',
  E0588:
    'Não é permitido retenção do ISSQN para o prestador do serviço que tenha algum regime especial de tributação na data de competência informada na DPS.',
  E0595: 'Não é permitido informar alíquota superior a 5%.',
  E0600: 'Não é permitido informar a alíquota para prestador de serviço optante do simples nacional do tipo MEI.',
  E0602:
    'Não é permitido informar alíquota quando o campo referente à tributação do ISSQN indicar imunidade, exportação ou não incidência.',
  E0604: 'Não é permitido informar alíquota quando o prestador de serviço possui algum regime especial de tributação.',
  E0617:
    'Não é permitido informar alíquota quando o prestador de serviço não é optante do simples nacional (opSimpNac = 1) na data de competência informada na DPS, com o município de incidência do ISSQN com situação "ATIVO" no Sistema Nacional NFS-e.',
  E0625:
    'Não é permitido informar alíquota quando não há indicação de retenção do ISSQN (tpRetISSQN = 1) para o prestador de serviço ME/EPP (opSimpNac = 3) na data de competência informada na DPS, com apuração do ISSQN pelo simples nacional (regApTribISSQN = 1), sem benefício municipal ou, se houver, seja diferente de isenção ou alíquota diferenciada, cujo município de incidência esteja Ativo no Sistema Nacional NFS-e.',
  E0635:
    'Não é permitido informar alíquota quando o convênio do município de incidência do ISSQN está ativo na data de competência informada na DPS, para o prestador de serviço ME/EPP (opSimpNac = 3) com a apuração do ISSQN fora do Simples Nacional, ou seja, pela alíquota do município para o serviço prestado (regApTribSN = 2 ou 3).',
  E0710: 'Para MEI pTotTribSN nunca poderá ser informado.',
  E0712: 'Para ME/EPP indTotTrib nunca poderá ser informado.',
  E0713:
    'Para Não Optante do SN os campos, indicador de informação de valor total de tributos e percentual aproximado do total dos tributos da alíquota do Simples Nacional (%), não podem ser informado.',
  E0714: 'Arquivo enviado com erro na assinatura.',
  E0715: 'Certificado Digital da assinatura inválido.',
  E0716: 'Certificado Digital fora do padrão estabelecido.',
  E0717: 'A assinatura é obrigatória quando for enviado para o Web Service.',
  E0718: 'A assinatura deve ser feita com o certificado digital do emitente da DPS.',
  E0812:
    'O CNPJ do autor do pedido de registro de evento não corresponde à base do CNPJ informada no certificado digital da assinatura do pedido.',
  E0813:
    'O CNPJ autor informado no pedido de registro de evento não corresponde ao "AUTOR DO PEDIDO DE REGISTRO DE EVENTO" indicado na planilha "Tipo Eventos".',
  E0822: 'O prazo para o cancelamento da NFS-e expirou, conforme parametrização do município emissor da NFS-e.',
  E0824:
    'NFS-e sem indentificação do tomador do serviço não pode ser cancelada, conforme parametrização do município emissor da NFS-e.',
  E0831:
    'O pedido de registro deste evento de NFS-e deve ser enviado para o ambiente que gerou a NFS-e referenciada no pedido.',
  E0840:
    'O Sistema Nacional NFS-e não pode recepecionar o EVENTO DE CANCELAMENTO DE NFS-e pois, o evento de Cancelamento de NFS-e já está vinculado à NFS-e indicada no evento enviado, impedindo sua recepção.',
  E1200: 'Certificado de Transmissão Inválido',
  E1203: 'Certificado de Transmissão expirado',
  E1205: 'Certificado de Transmissão - Erro Cadeira de Certificação',
  E1209: 'Certificado de Transmissão sem CNPJ ou CPF.',
  E1217: 'Serviço paralisado para manutenção',
  E1225: 'Falha na decodificação da base 64 da área de dados',
  E1226: 'Estrutura descompactada mal formada.',
  E1228: 'Uso de prefixo de namespace não permitido na área de dados descompactada.',
  E1229: 'XML não está utilizando codificação UTF8.',
  E1235: 'Falha no esquema XML do DF-e.',
  E1242: 'Tipo DF-e não tratado pelo Sistema Nacional NFS-e.',
  E1827:
    'Conteúdo do identificador informado no identificador do Pedido de Registro de Evento difere da concatenação dos campos correspondentes.',
  E1831:
    'O pedido de registro de evento não pode ser validado pois a NFS-e indicada não existe no Ambiente de Dados Nacional NFS-e.',
  E1845: 'Ambiente informado diverge do ambiente de recebimento para o qual o emitente está enviando o evento.',
  E1980: 'Arquivo enviado com erro na assinatura.',
  E1986: 'Certificado Digital fora do padrão estabelecido.',
  E1989: 'A assinatura é obrigatória quando for enviado para o Web Service.',
  E2220: 'Nenhum documento localizado - não existem documentos fiscais para o Contribuinte a partir do NSU informado.',
  E2243: 'O CNPJ da consulta não pertence à mesma empresa do certificado.',
  E2401: 'Chave de acesso não encontrada.',
  E2404: 'Não foi gerada uma NFS-e com o identificador de DPS informado',
  E2406: 'A chave de acesso consultada deve conter 50 números.',
  RNG9999: 'Erro não catalogado.',
} as const;
