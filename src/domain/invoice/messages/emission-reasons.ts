/** About time, numbers and the municipality's part in the national system (domain.md sections 1, 4, 7, 8, 15). */
export const emissionReasons: Readonly<Record<string, string>> = {
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
