/**
 * Subjects of the national system's codes, each with a text for the codes that have no individual one. They cover all 516 codes of the
 * official annexes and of answers seen in use, and those of other versions (docs/national-system.md#codes-of-other-versions). A code that the annexes
 * put into two groups is in the first; its individual text fits both.
 */
export const areas = {
  emission: {
    reason:
      'O sistema nacional não aceitou a data ou o município desta nota. Confira o cadastro da empresa e emita de novo; se a recusa se repetir, fale com o suporte.',
    codes: `
      E0001 E0004 E0006 E0008 E0010 E0014 E0015 E0016 E0018 E0020 E0023 E0025 E0029 E0034 E0035 E0037
      E0038 E0039 E0041 E1270 E1272 E1294 E1304 E9996
    `,
  },
  provider: {
    reason:
      'O sistema nacional não aceitou os dados da empresa emissora. Peça ao suporte que confira o cadastro da empresa e emita de novo.',
    codes: `
      E0080 E0082 E0084 E0096 E0098 E0099 E0112 E0113 E0114 E0115 E0116 E0119 E0120 E0121 E0122 E0123
      E0124 E0125 E0128 E0129 E0130 E0132 E0134 E0138 E0142 E0146 E0148 E0160 E0161 E0162 E0166 E0172
      E0174 E0175 E0176 E0177 E0178
    `,
  },
  customer: {
    reason:
      'O sistema nacional não aceitou os dados do cliente. Confira customer (documento, nome e endereço) e emita de novo; se a recusa se repetir, fale com o suporte.',
    codes: `
      E0187 E0188 E0190 E0194 E0202 E0204 E0206 E0207 E0212 E0222 E0223 E0224 E0226 E0228 E0229 E0231
      E0232 E0233 E0234 E0235 E0236 E0237 E0238 E0240 E0242 E0246 E0247
    `,
  },
  intermediary: {
    reason:
      'O sistema nacional não aceitou os dados do intermediário, que este emissor não envia. Seus dados estão certos: fale com o suporte.',
    codes: `
      E0248 E0250 E0254 E0262 E0264 E0266 E0268 E0272 E0280 E0281 E0284 E0286 E0287 E0288 E0289 E0290
      E0291 E0292 E0293 E0294 E0296 E0298 E0299 E0300 E1388
    `,
  },
  service: {
    reason:
      'O sistema nacional não aceitou os dados do serviço. Confira se a atividade (cnae, service_code) é a do serviço prestado e fale com o suporte; não use o código de outro serviço.',
    codes: 'E0302 E0304 E0310 E0312 E0314 E0315 E0316 E0318 E0320 E0322 E0420 E1402',
  },
  foreignTrade: {
    reason:
      'O sistema nacional não aceitou as informações de comércio exterior da nota. Confira foreign_amount e customer.address e emita de novo; se a recusa se repetir, fale com o suporte.',
    codes: 'E0330 E0331 E0333 E0341 E0343 E0345 E0352 E0354 E0356',
  },
  worksAndEvents: {
    reason:
      'O sistema nacional não aceitou os dados de obra ou de evento da nota, que este emissor não envia. Seus dados estão certos: fale com o suporte.',
    codes: 'E0370 E0372 E0373 E0380 E0382 E0384 E0386 E0390 E0392 E0398 E0400 E0402 E0404',
  },
  values: {
    reason:
      'O sistema nacional não aceitou os valores ou os tributos da nota. Confira amount_in_cents e o regime tributário com o contador; se a recusa se repetir, fale com o suporte.',
    codes: `
      E0031 E0032 E0423 E0424 E0425 E0529 E0530 E0532 E0539 E0540 E0580 E0583 E0585 E0588 E0589 E0590
      E0591 E0592 E0593 E0595 E0596 E0600 E0602 E0604 E0606 E0617 E0619 E0621 E0625 E0628 E0631 E0635 E0640 E0650
      E0652 E0667 E0670 E0672 E0673 E0702 E0703 E0704 E0706 E0707 E0708 E0710 E0712 E0713
    `,
  },
  deductions: {
    reason:
      'O sistema nacional não aceitou os descontos ou as deduções da nota, que este emissor não envia. Seus dados estão certos: fale com o suporte.',
    codes: `
      E0427 E0428 E0430 E0431 E0432 E0435 E0436 E0437 E0438 E0439 E0440 E0441 E0442 E0444 E0446 E0447 E0449 E0453
      E0454 E0455 E0456 E0458 E0460 E0462 E0464 E0466 E0468 E0470 E0472 E0474 E0476 E0477 E0478 E0482
      E0484 E0488 E0490 E0492 E0494 E0496 E0498 E0499 E1538
    `,
  },
  benefits: {
    reason:
      'O sistema nacional não aceitou o benefício municipal ou a redução do ISS, que este emissor não envia. Seus dados estão certos: fale com o suporte.',
    codes: `
      E0429 E0533 E0534 E0535 E0536 E0537 E0538 E0541 E0544 E0548 E0550 E0565 E0567 E0574 E0575 E0577 E0579
      E0586 E0587 E0594 E0612
    `,
  },
  federalTaxes: {
    reason:
      'O sistema nacional não aceitou os tributos federais da nota, que este emissor não envia. Seus dados estão certos: fale com o suporte.',
    codes: `
      E0675 E0676 E0677 E0678 E0680 E0682 E0684 E0686 E0688 E0690 E0692 E0694 E0696 E0698 E0699 E0700
      E0701 E0720 E0724
    `,
  },
  ibsCbs: {
    reason:
      'O sistema nacional não aceitou as informações de IBS e CBS da nota. Confirme o regime da empresa com o contador e fale com o suporte.',
    codes: `
      E0850 E0854 E0859 E0901 E0903 E0904 E0905 E0906 E0907 E0910 E0911 E0912 E0913 E0914 E0920 E0921 E0922
      E0928 E0930 E0931 E0932 E0933 E0934 E0935 E0940 E0942 E0943 E0945 E0946 E0947 E0948 E0950 E0951
      E0952 E0953 E0958 E0959 E0960 E0961 E0964 E0965 E0969 E0970 E0971 E0972
    `,
  },
  substitution: {
    reason: 'O sistema nacional não aceitou a substituição da nota. Fale com o suporte antes de emitir outra.',
    codes: `
      E0042 E0044 E0046 E0050 E0056 E0058 E0060 E0061 E0063 E0065 E0068 E0070 E0072 E0074 E0076 E0078 E1308
      E1310
    `,
  },
  generated: {
    reason: 'O sistema nacional não fechou os cálculos da nota. Seus dados podem estar certos: fale com o suporte.',
    codes: `
      E1263 E1268 E1276 E1280 E1281 E1282 E1284 E1285 E1286 E1287 E1288 E1289 E1295 E1297 E1300 E1301 E1302
      E1303 E1305 E1307 E1309 E1311 E1313 E1317 E1321 E1325 E1327 E1329 E1506 E1508 E1515 E1517 E1518 E1521
      E1522 E1523 E1524 E1525 E1526 E1530 E1531 E1533 E1534 E1535 E1539 E1540 E1541 E1543 E1545 E1546 E1547 E1548 E1549
      E1550 E1551 E1552 E1553 E1554 E1555 E1556 E1557 E1558 E1560 E1561 E1562 E1563 E1565 E1566 E1567 E1568 E1569
      E1570 E1571 E1572 E1573 E1574 E1575 E1576 E1577 E1578 E1580 E1581 E1582 E1583 E1584 E1585 E1586 E1587 E1588
      E1589 E1590 E1600 E1601 E1602 E1603 E1604 E1605 E1606 E1607
    `,
  },
  signature: {
    reason:
      'O sistema nacional não aceitou a assinatura digital. Peça ao suporte que confira o certificado da empresa.',
    codes: `
      E0714 E0715 E0716 E0717 E0718 E1630 E1632 E1634 E1636 E1638 E1980 E1983 E1986 E1989 E1991 E2020
      E2023 E2026 E2029 E2032
    `,
  },
  certificate: {
    reason:
      'O sistema nacional não aceitou o certificado digital da empresa. Envie ao suporte um certificado A1 válido.',
    codes: 'E1200 E1203 E1205 E1206 E1207 E1208 E1209',
  },
  payload: {
    reason:
      'O sistema nacional não aceitou a forma do documento enviado. É uma falha do programa emissor, não dos seus dados: fale com o suporte.',
    codes: 'E1225 E1226 E1228 E1229 E1235 E1242 E1802 E1825 E1827 E1845 E6154 E6155 RNG6110 RNG6159 RNG9997',
  },
  unavailable: {
    reason: 'O sistema nacional não estava disponível. Aguarde alguns minutos; se continuar, fale com o suporte.',
    codes: 'E1217 RNG9999',
  },
  event: {
    reason:
      'O sistema nacional não aceitou o pedido de cancelamento. Pergunte à prefeitura o que o impede ou fale com o suporte.',
    codes: `
      E0802 E0812 E0813 E0815 E0816 E0822 E0823 E0824 E0827 E0831 E0840 E0845 E0848 E0852 E0853 E0855
      E0856 E0860 E0861 E0862 E0863 E0864 E0866 E0868 E0870 E1260 E1274 E1278 E1805 E1818 E1831 E1833
      E1835 E1843 E1944 E1949 E1954 E1960 E1963 E1965 E1967 E1970 E1976 E1978
    `,
  },
  query: {
    reason: 'O sistema nacional não encontrou o documento consultado. Fale com o suporte.',
    codes: 'E2220 E2243 E2401 E2404 E2406 E999',
  },
} as const satisfies Readonly<Record<string, { reason: string; codes: string }>>;

type Area = { reason: string; codes: string };

/** The text of each code in these areas. */
export const reasonsOf = (some: readonly Area[]): ReadonlyMap<string, string> =>
  new Map(
    some.flatMap(({ reason, codes }) =>
      codes
        .trim()
        .split(/\s+/)
        .map((code) => [code, reason] as const),
    ),
  );

/** The text of each code in any area. */
export const areaReasons: ReadonlyMap<string, string> = reasonsOf(Object.values(areas));
