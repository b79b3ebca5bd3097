import type { AuthChecker } from 'type-graphql';
import { type Policy, requirePolicy, requireWrite } from '../identity/viewer.js';
import type { Context } from './context.js';

/** Default deny: a field is served only if it names a policy, and all its policies allow this kind of principal. */
export const authChecker: AuthChecker<Context, Policy> = ({ context, info }, policies) => {
  for (const policy of policies) {
    requirePolicy(context.viewer, policy);
    if (info.parentType.name === 'Mutation') requireWrite(context.viewer, policy);
  }
  return policies.length > 0;
};
