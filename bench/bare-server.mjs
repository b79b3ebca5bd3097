// node bare-server.mjs apollo|yoga|mercurius PORT: a GraphQL server as in its manual, which serves the benchmarked
// operations from memory, without credentials, limits or a database.
const [kind, port] = process.argv.slice(2);

const typeDefs = `
  type Query { me: Viewer! models: [Model!]! }
  type Viewer { kind: String! }
  type Model { label: String! bedrockModelId: String! tier: String family: String description: String price: Price! }
  type Price { inputUsdMicrosPer1M: Float! outputUsdMicrosPer1M: Float! source: String! fetchedAt: String }
`;
const models = Array.from({ length: 100 }, (_, i) => ({
  label: `model-${i}`,
  bedrockModelId: `vendor.model-${i}-v1:0`,
  tier: 'standard',
  family: 'bench',
  description: `Model ${i} of the benchmarks`,
  price: {
    inputUsdMicrosPer1M: 800_000 + i,
    outputUsdMicrosPer1M: 4_000_000 + i,
    source: 'CONFIG_DEFAULT',
    fetchedAt: null,
  },
}));
const resolvers = { Query: { me: () => ({ kind: 'APP_CLIENT' }), models: () => models } };

const servers = {
  async apollo() {
    const [{ ApolloServer }, { startStandaloneServer }] = await Promise.all([
      import('@apollo/server'),
      import('@apollo/server/standalone'),
    ]);
    await startStandaloneServer(new ApolloServer({ typeDefs, resolvers }), {
      listen: { port: Number(port), host: '127.0.0.1' },
    });
  },
  async yoga() {
    const [{ createSchema, createYoga }, { createServer }] = await Promise.all([
      import('graphql-yoga'),
      import('node:http'),
    ]);
    const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), graphiql: false, logging: false });
    createServer(yoga).listen(Number(port), '127.0.0.1');
  },
  async mercurius() {
    const [{ default: Fastify }, { default: mercurius }] = await Promise.all([import('fastify'), import('mercurius')]);
    const app = Fastify();
    app.register(mercurius, { schema: typeDefs, resolvers, jit: 1 });
    await app.listen({ port: Number(port), host: '127.0.0.1' });
  },
};
await servers[kind]();
