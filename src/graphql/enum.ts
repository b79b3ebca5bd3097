/** The object that type-graphql needs to register an enum with these values. */
export const enumOf = <T extends string>(values: readonly T[]): { [K in T]: K } =>
  Object.fromEntries(values.map((value) => [value, value])) as { [K in T]: K };
