/** A mistake on the command line. Commands that run a server exit with 2. */
export class UsageError extends Error {}

const dev = `Usage: tollgate dev

Runs everything on this machine: the embedded DynamoDB engine, gateway and worker. Creates the tables. Prints the URL,
a link into the web console, the admin key and a first request. Stop it with Ctrl+C.

Secrets that are not set in the environment are generated at the first start and stored in the data folder.

Environment
  TOLLGATE_DATA_DIR   Folder for data and secrets. Default: .tollgate
  DYNAMODB_ENDPOINT   Use the DynamoDB at this URL instead of the embedded engine.
  PORT, HOST          Address of the API. Default: 4000 on 127.0.0.1

Exit codes
  0  stopped by SIGINT or SIGTERM
  1  could not start, or the embedded engine ended`;

const gateway = `Usage: tollgate gateway [--processes N]

Serves the API on HOST:PORT: GraphQL over HTTP, subscriptions over WebSocket and SSE.
On SIGTERM or SIGINT it finishes running requests and exits within 10 s.

Options
  --processes N   Run N processes (1 to 64) that share the port, for one per core. A process that ends is restarted.
                  Default: 1

Requires the tables (\`tollgate tables create\`) and these environment variables:
  TOLLGATE_ADMIN_KEYS (or TOLLGATE_ADMIN_KEY), TOLLGATE_ROOT_SECRETS (or API_KEY_PEPPER), TOLLGATE_SIGNING_KEYS

Exit codes
  0  stopped by a signal
  1  could not start: configuration, tables or port
  2  wrong command line`;

const worker = `Usage: tollgate worker

Runs the background work: sums costs into totals, raises alerts, refreshes prices, deletes what was purged.
Several workers may run at the same time. On SIGTERM or SIGINT it finishes the running tasks and exits within 10 s.

Requires the same configuration and tables as \`tollgate gateway\`.
If WORKER_PORT is set, it serves /healthz and /metrics on that port.

Exit codes
  0  stopped by a signal
  1  could not start: configuration or tables`;

const tables = `Usage: tollgate tables create [--template] | check | migrate

  create              Create the missing tables, with TTL. On AWS also with point-in-time recovery and deletion
                      protection. Idempotent.
  create --template   Print a CloudFormation template of the tables and of least-privilege IAM policies for gateway
                      and worker. Creates nothing.
  check               Check that the tables exist and match this version. Prints every problem.
  migrate             Upgrade the tables of an older version to this version.

Requires access to DynamoDB: DYNAMODB_ENDPOINT, AWS_REGION and TABLE_PREFIX as for the gateway. No secrets.

Exit codes
  0  done
  1  failed; \`check\`: the tables cannot be used
  2  wrong command line`;

const consoleLink = `Usage: tollgate console [--org ORG_ID] [--read-only] [--url URL]

Prints a link that signs in to the web console, and opens it if there is a browser. It is valid for two minutes and for
one sign-in. The session acts for the platform admin and ends with the admin key.

Options
  --org ORG_ID   The session acts for this org instead of the platform.
  --read-only    The session may not change anything.
  --url URL      The gateway. Default: TOLLGATE_URL, else that of the context, else http://127.0.0.1:4000

Requires an admin key: the first one of TOLLGATE_ADMIN_KEYS or TOLLGATE_ADMIN_KEY, else the one of the context
(\`tollgate login --admin\`), else the one in the data folder of \`tollgate dev\` (TOLLGATE_DATA_DIR).

Exit codes
  0  done
  1  failed: Tollgate is not running, it refused, or its console is off
  2  wrong command line`;

const seed = `Usage: tollgate seed [--days N]

Creates a demo org with 30 days of traffic and prints its credentials: three apps with costs, alerts and a fallback,
rate limits with usage and refusals, and twelve devices with readings. Each run creates another org: "Demo Corp",
"Demo Corp 2" and so on. Other orgs are not changed. It takes about a minute and shows its progress on stderr.

It uses the database of \`tollgate dev\`, whether that is running or not. Run it with the same environment and in the
same folder.

Options
  --days N   Full days before today, 1 to 90. Default: 30

Environment
  TOLLGATE_DATA_DIR   Data folder of \`tollgate dev\`. Default: .tollgate
  DYNAMODB_ENDPOINT   Use the DynamoDB at this URL, which must have the tables, instead of the embedded engine.
                      Writing 30 days takes about 170,000 write units, which cost less than one dollar on AWS.

Exit codes
  0  done
  1  failed: configuration or database
  2  wrong command line`;

const keys = `Usage: tollgate keys

Prints a JWK set with one new Ed25519 key, for TOLLGATE_SIGNING_KEYS.
To rotate without failed requests: append the new key to the set and deploy everywhere; move it to the front and deploy
everywhere; remove the old key one hour later, when its tokens have expired.

Exit codes
  0  done`;

/** The text of `tollgate <command> --help` for the commands that run or set up a server. */
export const help: Readonly<Record<string, string>> = {
  dev,
  gateway,
  worker,
  tables,
  console: consoleLink,
  seed,
  keys,
};
