import { chapterNames } from '../../../src/http/docs/guide.js';
import { normalised, selected } from './normalise.js';
import { readPage } from './pages.js';
import { demoOutput, type Program, startSampleService } from './sample-service.js';
import { runSession, type SessionBlock } from './session.js';

/** The pages whose sample output is made here; their sessions run one after the other on one service. */
export const SAMPLE_PAGES = [
  'README.md',
  'docs/first-steps.md',
  ...['README', ...chapterNames].map((name) => `docs/guia/${name}.md`),
];

/**
 * The sample pages with fresh output: of the demo under `<!-- output: demo … -->`, and of the block of commands above
 * under `<!-- output -->` or `<!-- output: field,… -->`. `folder` is where the commands write their files.
 */
export const samplePages = async (program: Program, folder: string): Promise<Readonly<Record<string, string>>> => {
  const pages: Record<string, string> = {};
  const service = await startSampleService(program, folder);
  try {
    for (const path of SAMPLE_PAGES) {
      const text = readPage(path);
      const outputs = await runSession(blocksOf(text), service);
      pages[path] = text.replaceAll(OUTPUT, (whole, mark: string, wanted: string | undefined, fence: string) => {
        if (wanted?.startsWith('demo')) return whole;
        const output = outputs.shift() ?? '';
        const shown = selected(normalised(output), wanted);
        return `${mark}\n\`\`\`${fence}\n${shown}\n\`\`\``;
      });
    }
  } finally {
    await service.stop();
  }
  for (const path of SAMPLE_PAGES) pages[path] = await withDemos(pages[path] ?? '', program, folder);
  return pages;
};

/** Mark, what is wanted, language of the block; the block follows its mark at once. */
const OUTPUT = /^(<!-- output(?:: ([\w ,-]+))? -->)\n```(\w*)\n[\s\S]*?\n?```$/gm;

/** A block of commands, or the place of an output, in the order of the page; only what is between the marks is run. */
const blocksOf = (page: string): readonly SessionBlock[] => {
  const session = [...page.matchAll(/^<!-- session begins -->$([\s\S]*?)^<!-- session ends -->$/gm)];
  const parts = session.flatMap(([, part = '']) => [
    ...part.matchAll(/^```sh\n([\s\S]*?)\n```$|^<!-- output\b.*-->$/gm),
  ]);
  return parts.map(([, commands]) => (commands === undefined ? { kind: 'output' } : { kind: 'commands', commands }));
};

const withDemos = async (page: string, program: Program, folder: string): Promise<string> => {
  let made = page;
  for (const [whole, mark = '', wanted, fence = ''] of page.matchAll(OUTPUT)) {
    if (wanted === undefined || !wanted.startsWith('demo')) continue;
    const output = normalised(await demoOutput(program, wanted.split(' ').slice(1), folder));
    made = made.replace(whole, () => `${mark}\n\`\`\`${fence}\n${output}\n\`\`\``);
  }
  return made;
};
