import { readFileSync } from 'node:fs';

interface Entry {
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> };
const { '': root, ...installed } = packages;

describe('package-lock.json', () => {
  it('has a SHA-512 integrity for each package, so that npm installs no changed package', () => {
    const isWorkspace = (path: string, link = false) => link || !path.includes('node_modules/');
    const unverified = Object.entries(installed).filter(
      ([path, { integrity, link }]) => !isWorkspace(path, link) && !integrity?.startsWith('sha512-'),
    );
    expect(unverified.map(([path]) => path)).toEqual([]);
  });

  it('has every optional dependency of its packages, because `npm ci` fails otherwise', () => {
    const named = [root, ...Object.values(installed)].flatMap((entry) =>
      Object.keys(entry?.optionalDependencies ?? {}),
    );
    expect(named.filter((name) => !installed[`node_modules/${name}`])).toEqual([]);
  });
});
