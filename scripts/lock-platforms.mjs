// Completes package-lock.json with the binaries of other platforms, each with the integrity that the registry gives for it.
// npm leaves out of the lock what a registry mirror lacks, and `npm ci` then fails because the owner names it. So a binary
// that the registry does not serve is taken out of its owner's entry as well: nothing in the lock is unverified. Run after
// every `npm install`; against a registry that serves all of them, it puts them back.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));

/** The registry's manifest of a package; undefined where it serves none. */
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

const dropped = [];
let added = 0;
for (const [place, owner] of Object.entries({ ...lock.packages })) {
  if (!owner.optionalDependencies) continue;
  const isRoot = place === '';
  const named = isRoot ? owner : (manifestOf(place.replace(/^.*node_modules\//, ''), owner.version) ?? owner);
  for (const [name, version] of Object.entries(named.optionalDependencies ?? {})) {
    if (isLocked(name) || !/^\d/.test(version)) continue;
    const manifest = manifestOf(name, version);
    if (manifest?.dist?.integrity) {
      owner.optionalDependencies[name] = version;
      lock.packages[`node_modules/${name}`] = entryFor(manifest, owner.dev);
      added++;
    } else if (isRoot) {
      throw new Error(
        `package.json names ${name}@${version}, which the registry does not serve: make it an optional peer dependency`,
      );
    } else {
      delete owner.optionalDependencies[name];
      delete lock.packages[`node_modules/${name}`];
      dropped.push(`${name}@${version}`);
    }
  }
}
const { '': root, ...rest } = lock.packages;
lock.packages = { '': root, ...Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))) };
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} packages of other platforms written into the lock`);
if (dropped.length > 0) console.log(`left out, because the registry does not serve them: ${dropped.join(', ')}`);
