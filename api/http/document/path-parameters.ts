/** What is named in the path of each operation, by the part of the path before it. */

interface PathParameter {
  description: string
  example: string | number
  /** Of ids that are made by us; names are whatever somebody chose. */
  pattern?: string
}

const name = (of: string, example: string): PathParameter => ({ description: `Name of ${of}.`, example })
const PROJECT = { description: 'Project, by id or name.', example: 'uc_4f2a91c07b' }
const RUN = { description: 'Run.', example: 'run_019aa2f3c4d57e8b9a0b1c2d', pattern: '^run_' }
const FIRING = {
  description: 'Firing.',
  example: '019aa2f3c4d57e8b9a0b1c2d3e4f5061',
  pattern: '^[0-9a-f]{32}$',
}

export const pathParameters: Readonly<Record<string, PathParameter>> = {
  'sources/name': name('a source', 'gateway'),
  'triggers/name': name('a trigger', 'payment_errors'),
  'builtin/name': name('an agent', 'first-look'),
  'mcp-servers/name': name('an MCP server', 'github'),
  'tools/tool': name('a tool', 'search_code'),
  'joined/name': name('a joined entity', 'api'),
  'skills/name': name('a skill', 'checkout-runbook'),
  'actions/name': name('an action of the project', 'inject'),
  'files/name': name('a catalog file', 'shop'),
  'github/name': name('a credential', 'shop-bot'),
  'catalog/handle': { description: 'source:name or trigger:name, or a name.', example: 'source:gateway' },
  'reports/id': { description: 'Report of svc evals.', example: 'eval_019aa2f3c4d57e8b', pattern: '^eval_' },
  'templates/key': { description: 'Key of a template.', example: 'webhook_watch' },
  'recipes/key': { description: 'Key of a template.', example: 'webhook_watch' },
  'projects/id': PROJECT,
  'usecases/id': PROJECT,
  'events/id': { description: 'Event.', example: 'evt_42', pattern: '^evt_[0-9]{1,15}$' },
  'traces/id': {
    description: 'Trace id, whole or at least its first 8 characters.',
    example: '5b8efff798038103d269b633813fc60c',
    pattern: '^[A-Za-z0-9_-]{8,128}$',
  },
  'incidents/incident': {
    description: 'Incident.',
    example: 'inc_128',
  },
  'maintenance/window': { description: 'Maintenance window.', example: 'mnt_3', pattern: '^mnt_' },
  'firings/id': FIRING,
  'dispatches/id': FIRING,
  'deliveries/id': {
    description: 'Delivery.',
    example: 'dlv_019aa2f3c4d57e8b9a0b1c2d3e4f5061',
    pattern: '^dlv_[0-9a-f]{32}$',
  },
  'subscriptions/sid': { description: 'Subscription.', example: 'sub_9f1c2e3a4b5d6071', pattern: '^sub_' },
  'subscribe/sid': { description: 'Subscription.', example: 'sub_9f1c2e3a4b5d6071', pattern: '^sub_' },
  'runs/id': RUN,
  'runs/run': RUN,
  'findings/run': { ...RUN, description: 'Finding, which has the id of its run.' },
  'results/run': { ...RUN, description: 'Run that concluded.' },
  'examples/id': { description: 'Example.', example: 'example_9f1c2e3a4b5d6071', pattern: '^example_' },
  'tests/id': { description: 'Test.', example: 'test_019aa2f3c4d57e8b9a0b1c2d', pattern: '^test_' },
  'keys/id': { description: 'Key.', example: '5be1c09a', pattern: '^[0-9a-f]{8}$' },
  'logins/id': { description: 'Key of the login.', example: '5be1c09a', pattern: '^[0-9a-f]{8}$' },
  'change-sets/id': { description: 'Change-set.', example: 12 },
  'proposals/id': { description: 'Proposal.', example: 'prop_9f1c2e3a4b5d6071', pattern: '^prop_' },
  'providers/id': { description: 'Model provider; new makes one.', example: 'providera' },
  'chat/turn': { description: 'Turn.', example: 'ask_9f1c2e3a4b5d60719f1c2e3a4b5d6071', pattern: '^ask_' },
  'sessions/id': {
    description: 'Conversation, as its maker named it; or a client that was signed in.',
    example: '9f1c2e3a4b5d60719f1c2e3a4b5d6071',
  },
  'ingest/key': {
    description: 'Ingest key of a source, the last part of its address.',
    example: 'ik_3fT9aQ',
  },
}
