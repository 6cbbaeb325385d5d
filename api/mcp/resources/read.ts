/** What a resource holds: the answers of tools, under an address. */
import { escapeText } from '../../../schemas/plain-text.ts'
import { toolNames, toolSchema } from '../../../schemas/tools.ts'
import * as calls from '../../client/calls.ts'
import { projectOf } from '../project.ts'
import { type Context, type Tool, ToolError } from '../tool.ts'
import { getFinding, listFindings } from '../tools/findings.ts'
import { getIncident, listIncidents } from '../tools/incidents.ts'
import { projectTimeline } from '../tools/projects.ts'
import { read } from '../tools/read.ts'
import { loadSkill } from '../tools/skills.ts'
import { printable } from '../words.ts'
import { type Address, TEMPLATES } from './uri.ts'

const WINDOW = '24h'
const FIRINGS = 20
const RESULTS = 10

export interface Contents {
  mimeType: string
  text: string
}

/** @throws ToolError, DaemonError */
export async function readResource(address: Address, context: Context): Promise<Contents> {
  const mimeType = TEMPLATES.find(({ name }) => name === address.kind)?.mimeType ?? 'text/markdown'
  return { mimeType, text: escapeText(await textOf(address, context)) }
}

function textOf(address: Address, context: Context): Promise<string> {
  switch (address.kind) {
    case 'entity':
      return answerOf(read, { selector: { [address.label]: address.value }, window: WINDOW }, context)
    case 'incidents':
      return answerOf(listIncidents, {}, context)
    case 'incident':
      return answerOf(getIncident, { incident_id: address.id }, context)
    case 'findings':
      return answerOf(listFindings, { project: address.project }, context)
    case 'finding':
      return answerOf(getFinding, { project: address.project, finding_id: address.id }, context)
    case 'firings':
      return firingsText(address.project, context)
    case 'project':
      return projectText(address.project, context)
    case 'tool':
      return schemasOf(address.name)
    case 'skill':
      return loadSkill(address.name, undefined, context).then(({ body }) => body)
  }
}

/** The arguments a tool takes, in full, and what it answers. @throws ToolError */
async function schemasOf(name: string): Promise<string> {
  if (toolNames.includes(name)) return JSON.stringify(toolSchema(name))
  throw new ToolError(`no tool is named ${printable(name)}; tools/list has those there are`, 'uri')
}

async function answerOf(tool: Tool, args: object, context: Context): Promise<string> {
  return (await tool.run(args as never, context)).text
}

async function projectText(word: string, context: Context): Promise<string> {
  const { id, name } = await projectOf(word, context)
  const { daemon, signal } = context
  const [outline, health, results] = await Promise.all([
    daemon.ask(calls.getOutline, { id }, signal),
    daemon.ask(calls.getProjectHealth, { id }, signal),
    answerOf(projectTimeline, { project: id, limit: RESULTS }, context),
  ])
  const list = (title: string, lines: string[]) =>
    lines.length ? [`\n## ${title}`, ...lines.map((line) => `- ${line}`)] : []
  return [
    `# ${name}`,
    outline.sentence,
    `\n${health.message}`,
    ...list(
      'What is wrong',
      health.issues.map((issue) => `${issue.message.replace(/\.$/, '')}. ${issue.fix}`),
    ),
    ...list(
      'Watches',
      outline.watches.map((one) => `${one.source} (${one.state}): ${one.description}`),
    ),
    ...list(
      'Wakes',
      outline.wakes.map((one) => `${one.trigger}${one.paused ? ' (paused)' : ''}: ${one.sentence}`),
    ),
    ...list(
      'Agents',
      outline.agents.map((one) => `${one.name}${one.enabled ? '' : ' (off)'}: ${one.sentence}`),
    ),
    ...list(
      'Skills',
      outline.skills.map((one) => `${one.name}: ${one.description}`),
    ),
    '\n## What was found',
    results,
  ].join('\n')
}

async function firingsText(word: string, context: Context): Promise<string> {
  const firings = await firingsOf(word, FIRINGS, context)
  const lines = firings.map(
    (one) =>
      `${one.fired_at ?? one.opened_at} ${one.trigger} for ${one.key}: ${one.reason} (${one.dispatch_id})`,
  )
  return lines.join('\n') || 'no firings yet'
}

/** The newest firings of a project. @throws ToolError for a project key, which may not see them. */
export async function firingsOf(
  word: string,
  limit: number,
  context: Pick<Context, 'daemon' | 'signal' | 'identity'>,
) {
  if (context.identity.project !== undefined)
    throw new ToolError('firings are not for project keys; the findings of the project are', 'uri')
  const { id } = await projectOf(word, context)
  const { firings } = await context.daemon.ask(calls.listFirings, { project: id, limit }, context.signal)
  return firings
}
