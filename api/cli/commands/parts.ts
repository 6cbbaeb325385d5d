/**
 * `svc triggers`, `svc agents` and `svc mcp-servers`: list, show and delete parts, and switch them.
 * They are written in the catalog file, the console or by the API.
 */
import type { Agent, McpServer, PartDeleted, Trigger } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { type Column, escapeLine, type Io } from '../terminal.ts'
import { type GivenWords, noun, rows, say, toName, verb, whole } from '../verbs.ts'
import { agentExampleCommands } from './agent-examples.ts'
import { agentTestCommand } from './agent-test.ts'
import { backtestCommand } from './backtest.ts'
import { approveToolCommand, testServerCommand } from './mcp-tools.ts'

const TRIGGERS: Column<Trigger>[] = [
  { title: 'NAME', cell: (trigger) => trigger.name },
  { title: 'STATE', cell: (trigger) => trigger.state, style: (t) => (t.paused ? 'dim' : 'green') },
  { title: 'LAST FIRED', cell: (trigger) => trigger.last_fired ?? 'never' },
  { title: '24 H', cell: (trigger) => String(trigger.firings_24h) },
  { title: 'TELLS', cell: (trigger) => String(trigger.subscribers) },
  { title: 'WHAT', cell: (trigger) => trigger.sentence },
]

const AGENTS: Column<Agent>[] = [
  { title: 'NAME', cell: (agent) => agent.name },
  {
    title: 'ON',
    cell: (agent) => (agent.enabled ? 'on' : 'off'),
    style: (a) => (a.enabled ? 'green' : 'dim'),
  },
  { title: 'WOKEN BY', cell: (agent) => agent.triggers.join(', ') },
  {
    title: 'HANDS OVER',
    cell: (agent) => agent.handoffs.map((row) => `${row.verdict}→${row.agent}`).join(', '),
  },
]

const SERVERS: Column<McpServer>[] = [
  { title: 'NAME', cell: (server) => server.name },
  { title: 'URL', cell: (server) => server.url },
  {
    title: 'CREDENTIAL',
    cell: (server) => server.auth_credential ?? (server.auth_value_configured ? 'stored' : 'none'),
  },
  {
    title: 'TOOLS',
    cell: ({ tools, changed }) => `${tools}${changed ? `, ${changed} changed` : ''}`,
    style: ({ changed }) => (changed ? 'yellow' : 'dim'),
  },
]

const SHOW = 'Show one with every field'
const IN_PROJECT = [['--project <project>', 'in this project only']] as const

export const triggersCommand = noun('triggers', 'List, show, test, pause, resume and delete triggers', {
  list: verb({ does: 'List triggers', call: calls.listTriggers, tell: rows(TRIGGERS) }),
  show: verb({ does: SHOW, call: calls.getTrigger, tell: whole }),
  pause: verb({
    does: 'Stop evaluating it',
    call: calls.pauseTrigger,
    tell: say(([name]) => `${name}: paused`),
  }),
  resume: verb({
    does: 'Evaluate it again',
    call: calls.resumeTrigger,
    tell: say(([name]) => `${name}: resumed`),
  }),
  test: backtestCommand,
  rename: verb({
    does: 'Give it another name; firings and wiring go along',
    call: calls.renameTrigger,
    ...toName,
    tell: say(([name, to]) => `${name} is now called ${to}`),
  }),
  delete: verb({ does: 'Delete it; agents it woke stay', call: calls.deleteTrigger, tell: tellDeleted }),
})

export const agentsCommand = noun('agents', 'List, show, test, switch and delete agents', {
  list: verb({
    does: 'List agents',
    call: calls.listAgents,
    options: [['--project <project>', 'their wiring in this project']],
    tell: (io, { agents }) => rows(AGENTS)(io, agents),
  }),
  show: verb({ does: SHOW, call: calls.getAgent, tell: whole }),
  enable: verb({
    does: 'Switch what wakes it on',
    call: calls.enableAgent,
    options: IN_PROJECT,
    tell: say(([name]) => `${name}: enabled`),
  }),
  disable: verb({
    does: 'Switch what wakes it off',
    call: calls.disableAgent,
    options: IN_PROJECT,
    tell: say(([name]) => `${name}: disabled`),
  }),
  test: agentTestCommand,
  ...agentExampleCommands,
  rename: verb({
    does: 'Give it another name; runs and wiring go along',
    call: calls.renameAgent,
    ...toName,
    tell: say(([name, to]) => `${name} is now called ${to}`),
  }),
  delete: verb({ does: 'Delete it; its findings stay', call: calls.deleteAgent, tell: tellDeleted }),
})

export const mcpServersCommand = noun('mcp-servers', 'List, show, test and delete MCP servers', {
  list: verb({
    does: 'List MCP servers',
    call: calls.listMcpServers,
    tell: (io, { servers }) => rows(SERVERS)(io, servers),
  }),
  show: verb({ does: SHOW, call: calls.getMcpServer, tell: whole }),
  test: testServerCommand,
  approve: approveToolCommand,
  rename: verb({
    does: 'Give it another name, in every agent that uses it',
    call: calls.renameMcpServer,
    ...toName,
    tell: say(([name, to]) => `${name} is now called ${to}`),
  }),
  delete: verb({
    does: 'Delete it; it leaves every agent too',
    call: calls.deleteMcpServer,
    tell: tellDeleted,
  }),
})

function tellDeleted(io: Io, told: PartDeleted, { words: [name = ''] }: GivenWords): void {
  io.out(`deleted ${escapeLine(name)}\n`)
  if (told.agents_without_trigger?.length)
    io.err(`nothing wakes ${told.agents_without_trigger.join(', ')} any more\n`)
  if (told.handoffs_removed_from?.length)
    io.err(`${told.handoffs_removed_from.join(', ')} no longer hand over to it\n`)
}
