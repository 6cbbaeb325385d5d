/** `svc mcp-servers test` and `approve`: what tools a server offers, and a change of one accepted. */
import type { Command } from 'commander'
import type { McpTestedTool, McpTool } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { clientCommand, clientOf, type JsonFlag } from '../context.ts'
import type { ClientFlags } from '../credentials.ts'
import { CliError } from '../exit.ts'
import { diffLines } from '../line-diff.ts'
import { escapeLine, type Io, paint, printJson, type Style, table } from '../terminal.ts'

type Flags = ClientFlags & JsonFlag

export const testServerCommand = (io: Io): Command =>
  clientCommand('test', 'Connect to it and list its tools; new ones are pinned')
    .argument('<name>')
    .action((name: string, flags: Flags) => test(io, name, flags))

export const approveToolCommand = (io: Io): Command =>
  clientCommand('approve', 'Accept what a changed tool says now')
    .argument('<name>')
    .argument('<tool>')
    .action((name: string, tool: string, flags: Flags) => approve(io, name, tool, flags))

const STATES: Record<McpTestedTool['state'], Style> = {
  pinned: 'dim',
  new: 'green',
  changed: 'yellow',
  gone: 'red',
}

/** @throws CliError where the server did not answer with its tools */
async function test(io: Io, name: string, flags: Flags): Promise<void> {
  const answer = await clientOf(io, flags).call(calls.testMcpServer, { name })
  const { ok, ms, tools, error, notes } = answer.read()
  if (flags.json) printJson(io, answer.text)
  if (!ok) throw new CliError(flags.json ? '' : `${escapeLine(name)}: ${escapeLine(error ?? 'no answer')}`)
  if (flags.json) return
  io.out(
    table(
      io,
      [
        { title: 'TOOL', cell: (tool: McpTestedTool) => tool.name },
        { title: 'MAY', cell: (tool) => (tool.read_only ? 'read' : 'write') },
        { title: 'STATE', cell: (tool) => tool.state, style: (tool) => STATES[tool.state] },
        { title: 'WHAT', cell: (tool) => tool.description.split('\n')[0]!.slice(0, 80) },
      ],
      tools,
    ),
  )
  io.err(`answered within ${ms} ms\n`)
  for (const note of notes ?? []) io.err(`${escapeLine(note)}\n`)
  if (tools.some(({ state }) => state === 'changed'))
    io.err(`changed tools are not offered to agents: svc mcp-servers approve ${escapeLine(name)} <tool>\n`)
}

/** Approves what it shows, and not what the tool may say by then. @throws CliError where nothing waits */
async function approve(io: Io, name: string, tool: string, flags: Flags): Promise<void> {
  const client = clientOf(io, flags)
  const { tools } = await client.ask(calls.listMcpTools, { name })
  const found = tools.find((one) => one.name === tool)
  if (!found) throw new CliError(`${escapeLine(name)} has no tool named ${escapeLine(tool)}; test it first`)
  if (!found.change) throw new CliError(`${escapeLine(tool)} has no change to approve`)
  if (!flags.json)
    for (const line of diffLines(linesOf(found), linesOf(found.change)).flat()) {
      const style: Style = line.mark === '+' ? 'green' : line.mark === '-' ? 'red' : 'dim'
      io.out(`${paint(io, style, `${line.mark} ${escapeLine(line.text)}`)}\n`)
    }
  const body = { hash: found.change.hash }
  const { text } = await client.call(calls.approveMcpTool, { name, tool, body })
  if (flags.json) printJson(io, text)
  else io.out(`approved ${escapeLine(tool)} of ${escapeLine(name)}\n`)
}

const linesOf = ({ description, input, read_only }: Pick<McpTool, 'description' | 'input' | 'read_only'>) => [
  `may ${read_only ? 'read' : 'write'}`,
  ...description.split('\n'),
  ...JSON.stringify(input, null, 2).split('\n'),
]
