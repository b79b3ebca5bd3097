// Reading order of this folder: item (what can be managed), plan (the three-way diff), file (tollgate.yaml), live and
// target (reads and changes of one tenant), engine (plan and apply), apply-commands.

/** What a configuration file says about one thing, or what the gateway has. Plain JSON. */
export type ItemDocument = Readonly<Record<string, unknown>>;

export const itemKinds = ['model', 'org', 'app', 'budget', 'price', 'limits'] as const;
export type ItemKind = (typeof itemKinds)[number];

/** The name of a thing in its parts: `app:chat` is the kind `app` with the part `chat`. */
export interface ItemName {
  readonly kind: ItemKind;
  readonly parts: readonly string[];
}

// A part may contain the separator, so it is encoded.
export const itemName = (kind: ItemKind, ...parts: readonly string[]): string =>
  [kind, ...parts.map(encodeURIComponent)].join(':');

export function parseItem(item: string): ItemName {
  const [kind = '', ...parts] = item.split(':');
  const known = itemKinds.find((each) => each === kind);
  if (!known) throw new Error(`"${item}" is managed by a newer version of tollgate; upgrade the command line`);
  return { kind: known, parts: parts.map(decodeURIComponent) };
}

/** A file may leave out fields of these kinds. They keep their values. */
const partialKinds: readonly ItemKind[] = ['org', 'model'];
export const isPartial = (item: string): boolean => partialKinds.includes(parseItem(item).kind);

/** An org itself is never deleted. */
export const isDeletable = (item: string): boolean => parseItem(item).kind !== 'org';

/** JSON with sorted keys, so that equal documents are equal texts. */
export const canonical = (value: unknown): string => JSON.stringify(sorted(value));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== undefined && entry !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, entry]) => [name, sorted(entry)]),
  );
}

/** True if the gateway has what the document says. */
export function isApplied(item: string, document: ItemDocument, live: ItemDocument | undefined): boolean {
  if (!live) return false;
  if (!isPartial(item)) return canonical(document) === canonical(live);
  return Object.entries(document).every(([name, value]) => canonical(value) === canonical(live[name]));
}

/** The order of changes: what others refer to comes first. Deletions go the other way. */
export const orderOf = (item: string): number => itemKinds.indexOf(parseItem(item).kind);
