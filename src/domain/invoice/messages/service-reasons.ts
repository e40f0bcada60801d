/** About the service, its codes, and exports (domain.md sections 9.4 and 10). */
export const serviceReasons: Readonly<Record<string, string>> = {
  E0302: 'O município onde o serviço foi prestado não existe na tabela oficial. Fale com o suporte.',
  E0304: 'O país onde o serviço foi prestado não é aceito. Confira customer.address.country e emita de novo.',
  E0310: 'O código de serviço não existe na lista nacional. Fale com o suporte.',
  E0312: 'O município não administra este código de serviço. Use outra atividade ou fale com o suporte.',
  E0314:
    'O município não conhece o código municipal usado para este serviço. Pergunte à prefeitura qual vale e informe ao suporte.',
  E0315: 'O código municipal do serviço está em branco no cadastro da atividade. Peça ao suporte que o corrija.',
  E0316: 'O código NBS da atividade não existe na tabela nacional. Fale com o suporte.',
  E0318:
    'A exportação exige o código NBS, que falta na atividade. Peça ao suporte que o inclua ou use outra atividade.',
  E0320:
    'Este serviço exige o código NBS, que falta na atividade. Peça ao suporte que o inclua ou use outra atividade.',
  E0322: 'As informações de IBS e CBS exigem o código NBS, que falta na atividade. Peça ao suporte que o inclua.',
  E0330:
    'Faltam as informações de comércio exterior da exportação. Envie foreign_amount com moeda e valor e emita de novo.',
  E0370:
    'Serviços de construção exigem os dados da obra, que este emissor não envia. Emita esta nota no portal nacional ou fale com o suporte.',
  E0390:
    'Serviços de eventos exigem os dados do evento, que este emissor não envia. Emita esta nota no portal nacional ou fale com o suporte.',
  E0529:
    'Para o sistema nacional este serviço não é exportação, e o ISS é devido no Brasil. Confirme com o contador antes de emitir de novo.',
  E0590: 'Falta o país onde o serviço teve resultado. Confira o endereço do cliente no exterior e fale com o suporte.',
  E0591: 'O país do resultado do serviço não se informa neste caso. Seus dados estão certos: fale com o suporte.',
};
