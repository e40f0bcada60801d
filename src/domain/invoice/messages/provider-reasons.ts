/** About the company that issues: its registrations and its tax regime (domain.md section 9.2). */
export const providerReasons: Readonly<Record<string, string>> = {
  E0080: 'O CNPJ da empresa está incorreto no cadastro do emissor. Peça ao suporte que o corrija.',
  E0082:
    'O CNPJ da empresa não foi encontrado na Receita Federal na data da competência. Confira a situação do CNPJ e fale com o suporte.',
  E0084:
    'A empresa não consta como estabelecida no município de emissão. Confira o endereço do CNPJ e a inscrição na prefeitura e fale com o suporte.',
  E0116: 'O município exige a inscrição municipal do prestador. Informe-a ao suporte e emita de novo.',
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
    'O regime especial de ISS da empresa não vale para este serviço. Use outra atividade (cnae) ou confirme o regime com o contador.',
};
