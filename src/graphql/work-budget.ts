import { badInput } from '../lib/errors.js';
import type { Charge } from '../lib/units.js';
import { bounds } from './bounds.js';

/**
 * The complexity one operation may use. The document's static complexity is charged before execution. A field whose work
 * depends on stored data (shards, apps, days) charges that work as soon as it is known and before it reads.
 */
export class WorkBudget {
  private used = 0;

  /** Adds `units` of work. Throws BAD_USER_INPUT past the bound. */
  readonly charge: Charge = (units, advice = 'ask for fewer fields, or a smaller `first`') => {
    this.used += units;
    if (this.used > bounds.complexity)
      throw badInput({
        path: 'query',
        message: `complexity ${this.used} exceeds the maximum of ${bounds.complexity}: ${advice}`,
      });
  };
}
