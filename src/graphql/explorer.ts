/** GraphiQL, all of it from local files. Loaded when first asked for: it is nine megabytes that production never needs. */
export async function explorerPage(endpoint: string): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  return renderGraphiQL({
    title: 'Tollgate',
    endpoint,
    subscriptionsProtocol: 'WS',
    defaultQuery:
      '# A credential goes under "Headers":\n#   { "X-Admin-Key": "…" } or { "Authorization": "Bearer …" }\n{ me { kind clientId org { name } } }\n',
  } as Parameters<typeof renderGraphiQL>[0]);
}
