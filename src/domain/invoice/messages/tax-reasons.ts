const RATE_SURPLUS =
  'não se informa alíquota de ISS na nota. Peça ao suporte que confira o regime e a atividade da empresa.';
const RATE_MISSING = 'a nota precisa da alíquota do ISS. Pergunte ao contador qual é e informe ao suporte.';

/** About amounts, the rate of the ISS, withholding and the approximate taxes (domain.md section 9.5). */
export const taxReasons: Readonly<Record<string, string>> = {
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
