/** The object type-graphql makes an enum of, from its values. */
export const enumOf = <T extends string>(values: readonly T[]): { [K in T]: K } =>
  Object.fromEntries(values.map((value) => [value, value])) as { [K in T]: K };
