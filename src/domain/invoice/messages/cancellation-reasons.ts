/**
 * About the cancellation of a note; most limits are the municipality's (domain.md section 13). E1260, E1274 and E1278 are codes
 * of notes too: theirs fit both.
 */
export const cancellationReasons: Readonly<Record<string, string>> = {
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
