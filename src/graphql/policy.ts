import type { AuthChecker } from 'type-graphql';
import { type Policy, requirePolicy } from '../identity/viewer.js';
import type { Context } from './context.js';

/** Default deny: a field is served only if every policy it names lets this kind of principal through. */
export const authChecker: AuthChecker<Context, Policy> = ({ context }, policies) => {
  for (const policy of policies) requirePolicy(context.viewer, policy);
  return policies.length > 0;
};
