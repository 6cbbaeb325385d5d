/**
 * Who may import whom (ARCHITECTURE.md, Who may import whom). Types count as imports. Checked by
 * `npm run check`; test/house/imports.test.ts proves that each rule bites.
 */

const { createHash } = require('node:crypto')
const { readFileSync } = require('node:fs')

/**
 * What was cruised is kept, and looked at anew where the text of a file is another: `npm test` asks twice, as a check and
 * as a test. Its folder is that of these rules and of the packages, which are no files that are cruised.
 */
const kept = createHash('sha256')
  .update(readFileSync(__filename))
  .update(readFileSync(`${__dirname}/package-lock.json`))
  .digest('hex')

/** A rule: files under `from` never import what `to` matches. */
const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

const product = '^(schemas|machines|engine|api|console)/'
const packages = (...names) => `(^|/)node_modules/(${names.join('|')})`
const generators = '^schemas/generate\\.ts$'

/**
 * The rooms of the engine, from the lowest: each imports those before it. What still looks up is named,
 * file by file, and no file is added.
 */
const rooms = [
  ['model', 'what engine and console both know needs no other room', ['^engine/model/documents\\.ts$']],
  ['net', 'net imports model alone: it sends and seals what its callers give it', []],
  ['gitops', 'catalog files are text, looked at without an instance', []],
  [
    'log',
    'the log knows no source and nobody who reads it',
    [
      '^engine/log/(ingest/prepare|pipeline|retention|timeline/context)\\.ts$',
      '^engine/log/timeline/reads\\.ts$',
    ],
  ],
  ['sources', 'sources know no part that uses them', ['^engine/sources/source-kind\\.ts$']],
  ['documents', 'a document is stored without knowing what it does', []],
  ['outbox', 'what is sent does not know who made it', ['^engine/outbox/send-slack\\.ts$']],
  ['triggers', 'triggers know no agent', ['^engine/triggers/live\\.ts$']],
  ['agents', 'agents know no project', ['^engine/agents/(evals/run|runs/making|runs/types)\\.ts$']],
  ['incidents', 'incidents know no project', []],
  ['declared', 'what is declared knows no graph', []],
  ['reconcile', 'what a repository says is applied without a graph', []],
  ['graph', 'the graph is a projection', []],
  ['slack', 'Slack acts by calls that others offer', []],
  ['operations', 'an operation knows no thread', []],
  ['roles', 'a role does not know where it runs', []],
  ['threads'],
]

module.exports = {
  forbidden: [
    never('no-cycles', 'a file that needs itself cannot be read in any order', {}, { circular: true }),
    never('resolvable', 'every import leads to a file or a package', {}, { couldNotResolve: true }),
    never(
      'product-without-tests',
      'the product runs without its tests and scripts',
      { path: product },
      { path: '^(test|e2e|scripts)/' },
    ),

    never(
      'schemas-alone',
      'schemas import nothing of ours',
      { path: '^schemas/' },
      { path: '^(machines|engine|api|console)/' },
    ),
    never(
      'schemas-packages',
      'schemas import ajv, and the generator its compiler',
      { path: '^schemas/', pathNot: generators },
      { path: 'node_modules/', pathNot: packages('ajv', 'ajv-formats') },
    ),
    never(
      'schemas-anywhere',
      'schemas run in the browser too',
      { path: '^schemas/', pathNot: generators },
      { dependencyTypes: ['core'] },
    ),

    never(
      'machines-pure',
      'machines import schemas',
      { path: '^machines/' },
      { path: '^(engine|api|console)/' },
    ),
    never(
      'machines-packages',
      'machines import xstate',
      { path: '^machines/' },
      { path: 'node_modules/', pathNot: packages('xstate') },
    ),
    never(
      'machines-anywhere',
      'machines run in the browser too',
      { path: '^machines/' },
      { dependencyTypes: ['core'] },
    ),

    never(
      'engine-below-doors',
      'the engine knows no door and no page',
      { path: '^engine/' },
      { path: '^(api|console)/' },
    ),
    never(
      'engine-without-http',
      'the engine serves nothing',
      { path: '^engine/' },
      {
        path: packages('fastify', '@fastify/[^/]+', 'react', 'react-dom', 'commander', 'pino', 'pino-pretty'),
      },
    ),
    never(
      'engine-below-the-composition',
      'a room does not know the composition above it',
      { path: '^engine/[^/]+/', pathNot: '^engine/(threads|roles)/' },
      { path: '^engine/((engine|index|local|files)\\.ts$|roles/(?!calls|who-answers))' },
    ),
    ...rooms.slice(0, -1).map(([room, comment, exceptions], at) =>
      never(
        `engine-${room}`,
        comment,
        { path: `^engine/${room}/`, ...(exceptions.length ? { pathNot: exceptions } : {}) },
        {
          path: `^engine/(${rooms
            .slice(at + 1)
            // What all calls are called is no role.
            .map(([above]) => (above === 'roles' ? 'roles/(?!calls|who-answers)' : `${above}/`))
            .join('|')})`,
        },
      ),
    ),
    never(
      'engine-store-below',
      'the store knows nothing of what is stored in it',
      { path: '^engine/log/store/' },
      { path: '^engine/(log/(timeline|brief)|sources|threads)/' },
    ),
    never(
      'engine-ingest',
      'what is read and what is taken in never import each other: ingest',
      { path: '^engine/log/ingest/' },
      { path: '^engine/log/(timeline|brief)/' },
    ),
    never(
      'engine-timeline',
      'what is read and what is taken in never import each other: timeline',
      { path: '^engine/log/timeline/' },
      { path: '^engine/log/ingest/', pathNot: '^engine/log/ingest/(label|json|time)\\.ts$' },
    ),
    never(
      'engine-connectors-pure',
      'a connector knows no SQL and no store',
      { path: '^engine/sources/(connectors|upstreams)/' },
      { path: '^engine/(log/(store|timeline|lifecycle)|sources/(?!connectors|upstreams)|threads)/?' },
    ),

    never(
      'api-through-the-index',
      'doors call the engine by its index alone',
      { path: '^api/' },
      { path: '^engine/', pathNot: '^engine/(index|local|files)\\.ts$' },
    ),
    never(
      'daemon-without-the-engine',
      'the daemon runs the engine in threads, and its main thread does not load it as well',
      {
        path: '^(api/(http/|cli/commands/up)|engine/(index|threads/start)\\.ts)',
        pathNot: '^api/http/openapi-file\\.ts$',
      },
      { path: '^engine/(roles/(writer|here)|local)\\.ts$', reachable: true },
    ),
    never(
      'mcp-through-http',
      'the MCP server talks to the daemon over HTTP and knows neither the engine nor another door',
      { path: '^api/mcp/' },
      { path: '^(engine|api/http|api/cli)/' },
    ),
    never(
      'client-anywhere',
      'the client runs in the browser too: it knows schemas, and a reader of streams',
      { path: '^api/client/' },
      { path: '^(engine|machines|console|api/(?!client/))|node_modules/(?!eventsource-parser/)' },
    ),
    never(
      'client-in-a-browser',
      'the client runs in the browser too',
      { path: '^api/client/' },
      { dependencyTypes: ['core'] },
    ),
    never('api-without-console', 'the API knows no page', { path: '^api/' }, { path: '^console/' }),
    never(
      'api-without-sql',
      'doors never touch the store',
      { path: '^api/' },
      { path: packages('better-sqlite3', 'xstate') },
    ),

    never(
      'console-outside',
      'the console talks HTTP, by the client that all share',
      { path: '^console/', pathNot: '^console/(vite\\.config\\.ts$|build/)' },
      { path: '^(engine|api)/', pathNot: '^api/client/' },
    ),
    never(
      'console-in-a-browser',
      'pages run in a browser',
      { path: '^console/', pathNot: '^console/(vite\\.config\\.ts$|build/)' },
      { dependencyTypes: ['core'] },
    ),

    never('e2e-outside', 'browser tests use the built command', { path: '^e2e/' }, { path: product }),

    never(
      'one-owner-sqlite',
      'better-sqlite3 belongs to the store',
      { path: product, pathNot: '^engine/log/store/' },
      { path: packages('better-sqlite3', '@types/better-sqlite3') },
    ),
    never(
      'one-owner-undici',
      'there is one way out, which checks where it leads',
      { path: product, pathNot: '^engine/net/' },
      { path: packages('undici', 'ipaddr.js') },
    ),
    never(
      'one-owner-xstate',
      'XState belongs to the machines',
      { path: product, pathNot: '^machines/' },
      { path: packages('xstate') },
    ),
    never(
      'one-owner-ajv',
      'validation belongs to the schemas',
      { path: product, pathNot: '^(schemas/index\\.ts|api/http/|console/)' },
      { path: packages('ajv', 'ajv-formats') },
    ),
    never(
      'one-owner-mcp',
      'the protocol is spoken in three places, so that a new version of its package is met there alone',
      {
        path: product,
        pathNot: '^(engine/agents/mcp-[a-z]+\\.ts$|api/mcp/)|^engine/sources/connectors/mcp-resources\\.ts$',
      },
      {
        path: packages(
          '@modelcontextprotocol/server',
          '@modelcontextprotocol/client',
          '@modelcontextprotocol/node',
          '@modelcontextprotocol/sdk',
        ),
      },
    ),
    never(
      'one-owner-commander',
      'the command line belongs to the CLI',
      { path: product, pathNot: '^api/cli/' },
      { path: packages('commander') },
    ),
  ],
  options: {
    cache: { folder: `dist/.import-rules/${kept.slice(0, 16)}`, strategy: 'content' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
}
