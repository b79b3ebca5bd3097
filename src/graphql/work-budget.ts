import { badInput } from '../lib/errors.js';
import type { Charge } from '../lib/units.js';
import { bounds } from './bounds.js';

/**
 * The complexity that one operation may use. The static complexity of the document is charged before execution. A field
 * whose work depends on stored data (shards, apps, days) charges that work before it reads.
 */
export class WorkBudget {
  private used = 0;

  /** Adds `units` of work. Throws BAD_USER_INPUT past the bound. */
  readonly charge: Charge = (units, advice = 'request fewer fields, or a smaller `first`') => {
    this.used += units;
    if (this.used > bounds.complexity)
      throw badInput({
        path: 'query',
        message: `complexity ${this.used} exceeds the maximum of ${bounds.complexity}: ${advice}`,
      });
  };
}
