import { canonical, isPartial } from './item.js';
import type { PlanStep } from './plan.js';

const marks = { create: '+', update: '~', delete: '-', conflict: '!' } as const;

/** One line per change, and one for what is left to know. */
export function planText(steps: readonly PlanStep[], tenant: string): string {
  const lines = steps.flatMap((step) => {
    const { item, action, reason } = step;
    if (action === 'orphan') return [`  ${item}: not in the file any more; --prune deletes it`];
    if (!(action in marks)) return [];
    const mark = marks[action as keyof typeof marks];
    return [`${mark} ${action} ${item}${reason ? `: ${reason}` : fieldsText(step)}`];
  });
  return lines.length === 0 ? '' : `${tenant}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

const fieldsText = (step: PlanStep): string => {
  const names = step.action === 'update' ? differencesOf(step).map(({ name }) => name) : [];
  return names.length > 0 ? `: ${names.join(', ')}` : '';
};

interface FieldDifference {
  readonly name: string;
  readonly live?: unknown;
  readonly desired?: unknown;
}

/** The fields in which the gateway and the file differ. */
function differencesOf({ item, live, desired = {} }: PlanStep): FieldDifference[] {
  const now = live.document ?? {};
  const names = isPartial(item) ? Object.keys(desired) : [...new Set([...Object.keys(now), ...Object.keys(desired)])];
  return names
    .filter((name) => canonical(now[name]) !== canonical(desired[name]))
    .map((name) => ({ name, live: now[name], desired: desired[name] }));
}

/** Every field that differs, with both values. For a conflict, forced or not, also the value that was applied. */
export function diffText(steps: readonly PlanStep[], tenant: string): string {
  const lines = steps.flatMap((step) => {
    const { item, action, reason, record } = step;
    if (!(action in marks)) return [];
    const applied = reason === undefined ? undefined : record?.document;
    return [
      `${marks[action as keyof typeof marks]} ${item}${reason ? `: ${reason}` : ''}`,
      ...differencesOf(step).flatMap(({ name, live, desired }) => [
        ...(applied ? [`    applied  ${name}: ${canonical(applied[name]) ?? 'none'}`] : []),
        ...(live === undefined ? [] : [`    - gateway  ${name}: ${canonical(live)}`]),
        ...(desired === undefined ? [] : [`    + file     ${name}: ${canonical(desired)}`]),
      ]),
    ];
  });
  return lines.length === 0 ? '' : `${tenant}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
