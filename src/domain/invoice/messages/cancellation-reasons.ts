/** About the cancellation of a note; most limits are the municipality's (domain.md section 13). */
export const cancellationReasons: Readonly<Record<string, string>> = {
  E0802: 'O sistema nacional já tem um pedido igual a este. Aguarde a confirmação ou fale com o suporte.',
  E0812: 'O certificado usado não é da empresa que emitiu a nota. Envie ao suporte o certificado A1 da empresa.',
  E0813: 'Só quem emitiu a nota pode pedir o cancelamento. Fale com o suporte.',
  E0822: 'O prazo do município para cancelar a nota terminou. Peça o cancelamento à prefeitura.',
  E0823:
    'O valor da nota passa do limite que o município deixa cancelar sem análise. Peça o cancelamento à prefeitura.',
  E0824: 'O município não deixa cancelar nota sem cliente identificado. Peça o cancelamento à prefeitura.',
  E0827:
    'Os tributos da nota já foram recolhidos, e o município não a deixa mais cancelar. Fale com o contador ou com a prefeitura.',
  E0831: 'A nota foi gerada em outro ambiente e só lá pode ser cancelada. Fale com o suporte.',
  E0840:
    'Outro evento já está vinculado à nota e impede o cancelamento. Veja na consulta pública da NFS-e qual é ou pergunte à prefeitura.',
  E1831: 'O sistema nacional não encontrou a nota a cancelar. Fale com o suporte.',
  E1843: 'A hora do pedido ficou adiante do relógio do sistema nacional. Peça de novo em alguns minutos.',
};
