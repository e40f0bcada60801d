/** Folders of tests without a source folder of the same name, with what they follow instead. The longest that holds a file decides. */
const OTHER_FOLDERS: Readonly<Record<string, string>> = {
  'test/architecture': 'the repository as a whole',
  'test/bench': 'the generated log of the audit bench',
  'test/bench/growth': 'the generated history of the growth bench',
  'test/crash': 'points at which a process dies',
  'test/documents': 'pages of docs that are written from the code',
  'test/domain/reference-data': 'the catalogue, the municipalities, the registry and the API switch of the domain',
  'test/e2e': 'the service as a whole',
  'test/e2e/engines': 'the service as a whole, over each set of engines',
  'test/golden': 'stored events and hashes',
  'test/http/any-route': 'requirements that hold for every route',
  'test/http/fuzz': 'random requests to every route',
  'test/http/get-activities': 'a route of the contract',
  'test/http/get-nfse': 'a route of the contract',
  'test/http/get-nfse-id': 'a route of the contract',
  'test/http/get-pdf': 'a route of the contract',
  'test/http/get-xml': 'a route of the contract',
  'test/http/post-cancel': 'a route of the contract',
  'test/http/post-nfse': 'a route of the contract',
  'test/http/server': 'src/http/server.ts over real connections',
  'test/simulate': 'whole lives over engines in memory at a virtual clock',
  'test/proof': 'the service under faults, as a stranger runs it',
  'test/proof/judge': 'the judge of such a run, which shares no code with the service',
  'test/model': 'every interleaving of acceptance, issuing and cancelling',
  'test/supply-chain': 'the packages of a production install',
  'test/support': 'the tools of the tests',
};

/** Names for what is called a fixture (data for a test) or a harness (runs a part of the product for a test). */
const OTHER_WORDS = /^(?:world|rig|stage|kit|site|support|helpers?|fixtures|utils?)\.ts$/;

/** One line for each test in a folder that neither the source nor `others` has, for each folder of `others` without need, and for each helper by another word. */
export const mirrorFaults = (
  files: readonly string[],
  sourceFolders: ReadonlySet<string>,
  others: Readonly<Record<string, string>> = OTHER_FOLDERS,
): readonly string[] => {
  const tests = files.filter((file) => file.endsWith('.test.ts'));
  const folders = new Set(tests.map(folderOf));
  return [
    ...tests
      .filter((file) => !sourceFolders.has(sourceOf(folderOf(file))) && others[folderOf(file)] === undefined)
      .map((file) => `${file}: there is no ${sourceOf(folderOf(file))}`),
    ...Object.keys(others).flatMap((folder) => {
      if (!folders.has(folder)) return [`${folder} is listed and has no test`];
      return sourceFolders.has(sourceOf(folder)) ? [`${folder} is listed and follows ${sourceOf(folder)}`] : [];
    }),
    ...files
      .filter((file) => OTHER_WORDS.test(file.slice(file.lastIndexOf('/') + 1)))
      .map((file) => `${file}: belongs to test/support/fixture or test/support/harness`),
  ];
};

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

const sourceOf = (folder: string): string => {
  const inner = folder.slice('test/'.length);
  return inner === 'projections' ? inner : `src/${inner}`;
};
