const PROGRAM = 'É uma falha do programa emissor, não dos seus dados: fale com o suporte.';
const CERTIFICATE = 'Envie ao suporte um certificado A1 válido da empresa e emita de novo.';

/** About the signature, the certificate and the form of what was sent (domain.md sections 2, 3 and 6). */
export const documentReasons: Readonly<Record<string, string>> = {
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
  RNG9999: 'O sistema nacional teve um erro sem explicação. Aguarde alguns minutos; se continuar, fale com o suporte.',
};
