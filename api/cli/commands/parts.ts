/**
 * `svc triggers`, `svc agents` and `svc mcp-servers`: list, show and delete parts, and switch them.
 * They are written in the catalog file, the console or by the API.
 */
import { Command } from 'commander'
import type { Agent, McpServer, Trigger } from '../../../schemas/types.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { escapeLine, escapeText, type Io, printJson, table } from '../terminal.ts'
import { agentExampleCommands } from './agent-examples.ts'
import { agentTestCommand } from './agent-test.ts'
import { backtestCommand } from './backtest.ts'
import { mcpToolCommands } from './mcp-tools.ts'

type Flags = ClientFlags & JsonFlag

/** The three commands. */
export function partCommands(io: Io): Command[] {
  return [triggersCommand(io), agentsCommand(io), mcpServersCommand(io)]
}

function triggersCommand(io: Io): Command {
  const group = new Command('triggers').description('List, show, test, pause, resume and delete triggers')
  const base = '/api/triggers'
  group.addCommand(
    clientCommand('list', 'List triggers').action(async (flags: Flags) => {
      const { text } = await clientOf(io, flags).call(base)
      if (flags.json) return printJson(io, text)
      io.out(
        table(
          io,
          [
            { title: 'NAME', cell: (trigger: Trigger) => trigger.name },
            { title: 'STATE', cell: (trigger) => trigger.state, style: (t) => (t.paused ? 'dim' : 'green') },
            { title: 'LAST FIRED', cell: (trigger) => trigger.last_fired ?? 'never' },
            { title: '24 H', cell: (trigger) => String(trigger.firings_24h) },
            { title: 'TELLS', cell: (trigger) => String(trigger.subscribers) },
            { title: 'WHAT', cell: (trigger) => trigger.sentence },
          ],
          JSON.parse(text) as Trigger[],
        ),
      )
    }),
    { isDefault: true },
  )
  group.addCommand(showCommand(io, base))
  for (const event of ['pause', 'resume'] as const)
    group.addCommand(
      clientCommand(event, event === 'pause' ? 'Stop evaluating it' : 'Evaluate it again')
        .argument('<name>')
        .action((name: string, flags: Flags) =>
          post(io, `${base}/${encodeURIComponent(name)}/${event}`, flags, `${name}: ${event}d`),
        ),
    )
  group.addCommand(backtestCommand(io))
  group.addCommand(deleteCommand(io, base, 'Delete it; agents it woke stay'))
  return group
}

function agentsCommand(io: Io): Command {
  const group = new Command('agents').description('List, show, test, switch and delete agents')
  const base = '/api/agents/builtin'
  group.addCommand(
    clientCommand('list', 'List agents')
      .option('--project <project>', 'their wiring in this project')
      .action(async (flags: Flags & { project?: string }) => {
        const query = flags.project ? `?project=${encodeURIComponent(flags.project)}` : ''
        const { text } = await clientOf(io, flags).call(base + query)
        if (flags.json) return printJson(io, text)
        io.out(
          table(
            io,
            [
              { title: 'NAME', cell: (agent: Agent) => agent.name },
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
            ],
            (JSON.parse(text) as { agents: Agent[] }).agents,
          ),
        )
      }),
    { isDefault: true },
  )
  group.addCommand(showCommand(io, base))
  for (const event of ['enable', 'disable'] as const)
    group.addCommand(
      clientCommand(event, `Switch what wakes it ${event === 'enable' ? 'on' : 'off'}`)
        .argument('<name>')
        .option('--project <project>', 'in this project only')
        .action((name: string, flags: Flags & { project?: string }) => {
          const query = flags.project ? `?project=${encodeURIComponent(flags.project)}` : ''
          return post(io, `${base}/${encodeURIComponent(name)}/${event}${query}`, flags, `${name}: ${event}d`)
        }),
    )
  group.addCommand(agentTestCommand(io))
  for (const command of agentExampleCommands(io)) group.addCommand(command)
  group.addCommand(deleteCommand(io, base, 'Delete it; its findings stay'))
  return group
}

function mcpServersCommand(io: Io): Command {
  const group = new Command('mcp-servers').description('List, show, test and delete MCP servers')
  const base = '/api/mcp-servers'
  group.addCommand(
    clientCommand('list', 'List MCP servers').action(async (flags: Flags) => {
      const { text } = await clientOf(io, flags).call(base)
      if (flags.json) return printJson(io, text)
      io.out(
        table(
          io,
          [
            { title: 'NAME', cell: (server: McpServer) => server.name },
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
          ],
          (JSON.parse(text) as { servers: McpServer[] }).servers,
        ),
      )
    }),
    { isDefault: true },
  )
  group.addCommand(showCommand(io, base))
  for (const command of mcpToolCommands(io)) group.addCommand(command)
  group.addCommand(deleteCommand(io, base, 'Delete it; it leaves every agent too'))
  return group
}

function showCommand(io: Io, base: string): Command {
  return clientCommand('show', 'Show one with every field')
    .argument('<name>')
    .action(async (name: string, flags: Flags) => {
      const { text } = await clientOf(io, flags).call(`${base}/${encodeURIComponent(name)}`)
      if (flags.json) return printJson(io, text)
      io.out(`${escapeText(JSON.stringify(JSON.parse(text), null, 2))}\n`)
    })
}

function deleteCommand(io: Io, base: string, description: string): Command {
  return clientCommand('delete', description)
    .argument('<name>')
    .action(async (name: string, flags: Flags) => {
      const { text } = await clientOf(io, flags).call(`${base}/${encodeURIComponent(name)}`, {
        method: 'DELETE',
      })
      if (flags.json) return printJson(io, text)
      const told = JSON.parse(text) as Record<
        'agents_without_trigger' | 'handoffs_removed_from',
        string[] | undefined
      >
      io.out(`deleted ${escapeLine(name)}\n`)
      if (told.agents_without_trigger?.length)
        io.err(`nothing wakes ${told.agents_without_trigger.join(', ')} any more\n`)
      if (told.handoffs_removed_from?.length)
        io.err(`${told.handoffs_removed_from.join(', ')} no longer hand over to it\n`)
    })
}

async function post(io: Io, path: string, flags: Flags, said: string): Promise<void> {
  const { text } = await clientOf(io, flags).call(path, { method: 'POST' })
  if (flags.json) printJson(io, text)
  else io.out(`${escapeLine(said)}\n`)
}
