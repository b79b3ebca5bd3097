export const usage = `tollgate <command>

  dev                       engine, gateway and worker on this machine, data in .tollgate/ (what \`npm start\` runs)
  gateway [--processes N]   the API: GraphQL over HTTP, subscriptions over WebSocket and SSE
  worker                    the background work; several may run
  tables create             create what is missing (idempotent)
  tables check              say what keeps the tables from being used
  tables migrate            bring an older store up to this version
  tables create --template  print a CloudFormation template of tables and policies instead
  seed [--url URL]          fill a running Tollgate with a demo org, for looking around
  keys                      make a set of signing keys for TOLLGATE_SIGNING_KEYS

Each takes --help. Configuration is by environment variables and config.yaml: see the README.`;

export const help: Readonly<Record<string, string>> = {
  dev: 'tollgate dev\n\nStarts the embedded engine (data in TOLLGATE_DATA_DIR, default .tollgate/), creates the tables, and runs gateway and worker.\nKeys that are not set are made at the first start and kept in the data folder. With DYNAMODB_ENDPOINT set, that engine is used.',
  gateway:
    'tollgate gateway [--processes N]\n\nServes the API on HOST:PORT. Needs the tables (tollgate tables create), TOLLGATE_ADMIN_KEYS, TOLLGATE_ROOT_SECRETS and\nTOLLGATE_SIGNING_KEYS. With --processes N as many processes share the port, one a core; one that ends is started again.\nSIGTERM: finishes what is under way and exits within 10 s.',
  worker:
    'tollgate worker\n\nRuns the background work on the same configuration as the gateway. SIGTERM: finishes its round and exits.',
  tables:
    'tollgate tables create [--template] | check | migrate\n\ncreate   creates the missing tables, with TTL; on AWS also point-in-time recovery and deletion protection\ncheck    exits 1 and names each fault if the tables do not fit this version\nmigrate  brings an older store up to this version\n--template  prints CloudFormation for the tables and the least IAM policies of gateway and worker',
  seed: 'tollgate seed [--url http://127.0.0.1:4000/graphql]\n\nRegisters a demo org with two apps through the API of a running Tollgate, and prints its credentials.\nThe admin key is the first one of TOLLGATE_ADMIN_KEYS or TOLLGATE_ADMIN_KEY, or the one in the data folder.',
  keys: 'tollgate keys\n\nPrints a JWK set with one new Ed25519 key. To rotate: put a new key first and keep the old one for an hour.',
};
