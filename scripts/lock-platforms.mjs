// Adds the binaries of other platforms to package-lock.json, each with the integrity from the registry. npm omits a
// binary that a registry mirror lacks, and `npm ci` then fails because the owner still names it. So this script also
// removes a binary that the registry does not serve from the entry of its owner: no package in the lock is unverified.
// Run it after every `npm install`. With a registry that serves all binaries, it adds them again.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));

/** The manifest of a package in the registry; undefined if the registry does not serve it. */
function manifestOf(name, version) {
  try {
    const text = execFileSync('npm', ['view', `${name}@${version}`, '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text ? JSON.parse(text) : undefined;
  } catch (error) {
    if (error.stdout?.includes('E404')) return undefined;
    throw error;
  }
}

function entryFor({ version, dist, cpu, libc, license, os, engines }, dev) {
  const entry = {
    version,
    integrity: dist.integrity,
    cpu,
    dev: dev || undefined,
    libc,
    license,
    optional: true,
    os,
    engines,
  };
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}

const isLocked = (name) => lock.packages[`node_modules/${name}`]?.integrity !== undefined;

const removed = [];
let added = 0;
for (const [path, owner] of Object.entries({ ...lock.packages })) {
  if (!owner.optionalDependencies) continue;
  const isRoot = path === '';
  const named = isRoot ? owner : (manifestOf(path.replace(/^.*node_modules\//, ''), owner.version) ?? owner);
  for (const [name, version] of Object.entries(named.optionalDependencies ?? {})) {
    if (isLocked(name) || !/^\d/.test(version)) continue;
    const manifest = manifestOf(name, version);
    if (manifest?.dist?.integrity) {
      owner.optionalDependencies[name] = version;
      lock.packages[`node_modules/${name}`] = entryFor(manifest, owner.dev);
      added++;
    } else if (isRoot) {
      throw new Error(
        `the registry does not serve ${name}@${version}, which package.json names; make it an optional peer dependency`,
      );
    } else {
      delete owner.optionalDependencies[name];
      delete lock.packages[`node_modules/${name}`];
      removed.push(`${name}@${version}`);
    }
  }
}
const { '': root, ...rest } = lock.packages;
lock.packages = { '': root, ...Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))) };
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`added ${added} packages of other platforms`);
if (removed.length > 0) console.log(`removed, because the registry does not serve them: ${removed.join(', ')}`);
