import { adoptMunicipalCodes } from '../../app/operator/company/company-commands.js';
import {
  type MunicipalCodeOfLine,
  parseCatalogFile,
  renderCatalogFile,
  type ShownLine,
} from '../../app/operator/reference-data/catalog-file.js';
import { importCatalog, putRegistryEntries, recordedLines } from '../../app/operator/reference-data/commands.js';
import { parseRegistryFile } from '../../app/operator/reference-data/registry-file.js';
import type { ImportedLines } from '../../domain/catalog/catalog.js';
import type { OperatorLine } from '../../domain/catalog/events.js';
import { chosenMunicipalCode, type IbsCbsOfCompany } from '../../domain/company/events.js';
import { reductionToConfirm, resolveDeclaration } from '../../domain/company/ibs-cbs.js';
import { ibsCbsText, reductionText } from '../../domain/company/ibs-cbs-report.js';
import { counted } from '../../lib/counted.js';
import { companyFileTables, ibsCbsTables, shippedCatalogue, shippedCnaes } from '../../tables/catalogue.js';
import { municipalityCode, nearestMunicipality } from '../../tables/municipalities.js';
import { badUsage, type Command, done, fileDone, textFlag, unknownCompany, warned, withProblems } from '../command.js';
import { readJsonFile, readOperatorText } from '../flags.js';
import { companyIbsCbs } from '../ibs-cbs.js';
import { tellRowsBehind } from '../rows-behind.js';
import type { Session } from '../session.js';

const importCommand: Command = {
  name: 'catalog import',
  positionals: ['FILE.tsv'],
  summary: 'replace the activity lines of the CNAEs in the file, all or nothing',
  changes: true,
  run: async ({ positionals: [file = ''], actor, session, terminal }) => {
    const read = await readOperatorText(file);
    if ('problem' in read) return badUsage(read.problem);
    const parsed = parseCatalogFile(read.text, companyFileTables);
    if ('problems' in parsed) return withProblems(`${file} was not imported:`, parsed.problems);
    const opened = await session();
    const changed = await importCatalog(parsed.lines, opened.companyDeps(actor));
    const lines = [...parsed.lines.values()].flat().length;
    if (parsed.municipalCodes.length > 0) await tellRowsBehind(opened, terminal, ['companies']);
    const adopted = await takeOver(parsed.municipalCodes, actor, opened);
    const told = `${counted(lines, 'line')} of ${counted(parsed.lines.size, 'CNAE')} on record, ${counted(changed, 'CNAE')} changed`;
    return done([told, ...adopted].join('\n'), { cnaes: parsed.lines.size, lines, changed, municipal_codes: adopted });
  },
};

/** Takes the codes of the former column over into the files of the companies that use the lines; says what was taken over and what was not. */
const takeOver = async (
  codes: readonly MunicipalCodeOfLine[],
  actor: string,
  opened: Session,
): Promise<readonly string[]> => {
  const told: string[] = [];
  const used = new Set<MunicipalCodeOfLine>();
  for (const { registration } of codes.length === 0 ? [] : await opened.readModel.companies()) {
    const own = codes.filter(({ cnae }) => registration.activities.some((activity) => activity.cnae === cnae));
    for (const one of own) used.add(one);
    const fresh = new Map<string, string>();
    for (const { serviceCode, municipalCode } of own) {
      const isChosen = fresh.has(serviceCode) || chosenMunicipalCode(registration, serviceCode) !== undefined;
      if (!isChosen) fresh.set(serviceCode, municipalCode);
    }
    if (fresh.size === 0) continue;
    const adopted = [...fresh].map(([serviceCode, municipalCode]) => ({ serviceCode, municipalCode }));
    const result = await adoptMunicipalCodes(registration.cnpj, adopted, opened.companyDeps(actor));
    for (const { serviceCode, municipalCode } of adopted)
      told.push(
        'refused' in result
          ? `municipal_code ${municipalCode} of service ${serviceCode} was not taken over by ${registration.cnpj}: ${result.refused}`
          : `municipal_code ${municipalCode} of service ${serviceCode} is in municipal_codes of ${registration.cnpj} now`,
      );
  }
  for (const { cnae, serviceCode, municipalCode } of codes.filter((one) => !used.has(one)))
    told.push(
      `municipal_code ${municipalCode} of CNAE ${cnae}, service ${serviceCode}: no company has this CNAE; name it in municipal_codes of the company file`,
    );
  return told;
};

const exportCommand: Command = {
  name: 'catalog export',
  summary: 'the shipped activity lines under the imported ones, tab-separated, with what IBS and CBS lack',
  options: { company: { value: 'CNPJ', help: 'CNPJ: only the lines of its activities, with its choices' } },
  changes: false,
  run: async ({ flags, session, terminal }) => {
    const cnpj = textFlag(flags, 'company');
    const opened = await session();
    await tellRowsBehind(opened, terminal, ['catalog_lines', ...(cnpj === undefined ? [] : ['companies'])]);
    const company = cnpj === undefined ? undefined : await opened.readModel.company(cnpj);
    if (cnpj !== undefined && company === undefined) return unknownCompany(cnpj);
    const cnaes =
      company === undefined
        ? // An operator may have entered lines of a CNAE that the shipped catalogue lacks; the rows name such a CNAE.
          [...shippedCnaes(), ...(await opened.readModel.catalogLines('all')).keys()]
        : company.registration.activities.map(({ cnae }) => cnae);
    const distinct = new Set(cnaes);
    const lines = allLines(await recordedLines(distinct, opened), distinct).map((line) =>
      shown(line, company?.registration.ibsCbs),
    );
    if (company !== undefined) terminal.err(`${cnpj}: ${ibsCbsText(await companyIbsCbs(company, opened))}`);
    return fileDone(renderCatalogFile(lines), { lines: lines.map(describe) });
  },
};

export const catalogCommands: readonly Command[] = [importCommand, exportCommand];

const allLines = (recorded: ImportedLines, cnaes: Iterable<string>): readonly OperatorLine[] =>
  [...cnaes]
    .sort()
    .flatMap((cnae) => recorded.get(cnae) ?? shippedCatalogue.linesOf(cnae))
    // A CNAE without a published service is shipped without a code; such a line needs no review and cannot be imported.
    .filter((line) => line.serviceCode !== '');

/** With the options of annex VIII, what the declaration of IBS and CBS lacks, and a reduction to confirm; a blocked line declares nothing. */
const shown = (line: OperatorLine, company: IbsCbsOfCompany | undefined): ShownLine => {
  const { cIndOp = [], cClassTrib = [] } = ibsCbsTables.annexVIII(line.serviceCode, line.nbs ?? '') ?? {};
  const resolved = resolveDeclaration(line, company, ibsCbsTables);
  const candidates = [
    ...(line.indOp === undefined && cIndOp.length > 0 ? [`ind_op ${cIndOp.join(' ')}`] : []),
    ...(line.classTrib === undefined && cClassTrib.length > 0 ? [`class_trib ${cClassTrib.join(' ')}`] : []),
  ];
  const missing = resolved.kind === 'missing' && !line.isBlocked ? resolved.data : [];
  const isDeclared = resolved.kind === 'resolved' && !line.isBlocked && company?.declare !== false;
  const reduction = isDeclared ? reductionToConfirm(line, company, ibsCbsTables) : undefined;
  const toConfirm = reduction === undefined ? '' : `class_trib ${reductionText(reduction)}`;
  return { ...line, candidates: candidates.join('; '), missing: missing.join(', '), toConfirm };
};

const describe = (line: ShownLine) => ({
  cnae: line.cnae,
  service_code: line.serviceCode,
  nbs: line.nbs ?? '',
  description: line.description,
  is_default: line.isDefault,
  is_blocked: line.isBlocked,
  incidence: line.incidence,
  ind_op: line.indOp,
  class_trib: line.classTrib,
  class_trib_regular: line.classTribRegular,
  candidates: line.candidates,
  missing: line.missing,
  to_confirm: line.toConfirm,
});

export const registryCommand: Command = {
  name: 'registry put',
  positionals: ['FILE.json'],
  summary: 'record names of the local tax registry: one entry or a list',
  changes: true,
  run: async ({ positionals: [file = ''], actor, session }) => {
    const json = await readJsonFile(file);
    if ('problem' in json) return badUsage(json.problem);
    const parsed = parseRegistryFile(json.value, { codeOf: municipalityCode, nearestTo });
    if ('problems' in parsed) return withProblems(`${file} was not recorded:`, parsed.problems);
    const changed = await putRegistryEntries(parsed.entries, (await session()).companyDeps(actor));
    const { entries, warnings } = parsed;
    const told = `${counted(entries.size, 'entry', 'entries')} in the file, ${changed} changed`;
    return done(warned(told, warnings), { entries: entries.size, changed, warnings });
  },
};

const nearestTo = (city: string, state: string): string | undefined => {
  const near = nearestMunicipality(city, state);
  return near && `${near.name}/${near.uf}`;
};
