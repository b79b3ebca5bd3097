import type { AuthChecker } from 'type-graphql';
import { type Policy, requirePolicy, requireWrite } from '../identity/viewer.js';
import type { Context } from './context.js';

/** Default deny: a field is served only if every policy it names lets this kind of principal through. */
export const authChecker: AuthChecker<Context, Policy> = ({ context, info }, policies) => {
  for (const policy of policies) {
    requirePolicy(context.viewer, policy);
    if (info.parentType.name === 'Mutation') requireWrite(context.viewer, policy);
  }
  return policies.length > 0;
};
