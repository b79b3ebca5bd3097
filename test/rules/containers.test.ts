import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly command: string | string[];
  readonly environment?: Record<string, string>;
  readonly depends_on?: Record<string, { readonly condition: string }>;
}

const compose = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const { services } = compose;

it('starts DynamoDB Local, gateway and worker, each after the services it depends on', () => {
  expect(Object.keys(services).sort()).toEqual(['dynamodb', 'gateway', 'tables', 'worker']);
  for (const [name, { depends_on: needs = {} }] of Object.entries(services)) {
    for (const needed of Object.keys(needs))
      expect([name, Object.keys(services).includes(needed)]).toEqual([name, true]);
  }
  expect(services.gateway?.depends_on).toEqual({ tables: { condition: 'service_completed_successfully' } });
});

it('runs its services with commands that exist and with a valid environment', async () => {
  const program = read('src/cli/program.ts');
  for (const name of ['gateway', 'worker', 'tables']) {
    const { command, build, environment = {} } = services[name] as Service;
    expect(build).toBe('.');
    expect(program).toContain(`import('./${command[0]}.js')`);
    expect(read(`src/cli/${command[0]}.ts`)).toContain(`export async function ${command[0]}(`);
    const filled = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [
        key,
        String(value).startsWith('${') ? 'x'.repeat(32) : String(value),
      ]),
    );
    const keys = JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'k', x: 'x', d: 'd' }] });
    expect(loadConfig({ ...filled, TOLLGATE_SIGNING_KEYS: keys })).toMatchObject({
      production: true,
      store: { endpoint: 'http://dynamodb:8000' },
    });
  }
});

/** The files and folders of the repository that an image contains or is built from. */
const copiedFiles = (dockerfile: string): string[] =>
  [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));

it('builds an image in two stages that runs without root rights and has a health check', () => {
  const dockerfile = read('Dockerfile');
  const stages = dockerfile.match(/^FROM .*/gm) ?? [];
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  expect(stages).toHaveLength(2);
  expect(last).toMatch(/^USER node$/m);
  expect(last).toMatch(/^HEALTHCHECK/m);
  expect(last).not.toMatch(/npm (ci|install)/);
  const copied = copiedFiles(dockerfile);
  const ignored = read('.dockerignore').split('\n').filter(Boolean);
  expect(copied.filter((path) => ignored.includes(path))).toEqual([]);
});

it('ships the console: the build has all that it needs, and the image has its result', () => {
  const dockerfile = read('Dockerfile');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { build: string } };
  const named = scripts.build.match(/[\w./-]+\.(?:json|mjs)/g) ?? [];
  const copied = copiedFiles(dockerfile);
  expect(named).toContain('scripts/console.mjs');
  expect([...named, 'src', 'console', 'package-lock.json'].filter((path) => !copied.includes(path))).toEqual([]);
  expect(dockerfile).toContain('COPY --from=build /app/dist ./dist');
});
