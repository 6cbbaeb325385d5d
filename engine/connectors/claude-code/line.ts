/** What a line of a session's transcript is, and says in one line. */
import { oneLine } from '../../ingest/template.ts'
import { objectOf, scalar } from '../scalar.ts'

const TYPE_MAX = 200
const TEXT_MAX = 500
const INPUT_MAX = 80

type Line = Record<string, unknown>

/** tool_use and tool_result where the message holds one, else the type of the line. */
export function typeOfLine(line: Line): string {
  const types = blocksOf(line).map((block) => block.type)
  const found = ['tool_use', 'tool_result'].find((type) => types.includes(type))
  return oneLine(found ?? scalar(line.type) ?? 'message', TYPE_MAX)
}

/** @param hasThinking whether thoughts are part of it. */
export function textOfLine(line: Line, hasThinking: boolean): string {
  const { content } = objectOf(line.message)
  const said =
    typeof content === 'string'
      ? content
      : blocksOf(line)
          .map((block) => textOfBlock(block, hasThinking))
          .filter(Boolean)
          .join(' ')
  return oneLine(said.trim() || ownText(line) || `${scalar(line.type) ?? 'line'} without text`, TEXT_MAX)
}

/** Lines that hold no message: summaries, and what the plugin says of the session. */
function ownText(line: Line): string | undefined {
  const type = scalar(line.type)
  switch (type) {
    case 'summary':
      return scalar(line.summary)
    case 'session_flow':
      return `flow ${scalar(line.flow) ?? 'none'}`
    case 'session_project':
      return `works for project ${scalar(line.project) ?? 'none'}`
    case 'session_state':
      return [scalar(line.state) ?? 'unknown', scalar(line.reason)].filter(Boolean).join(': ')
    case 'session_station':
      return ['station', line.station, line.role, line.parent && `under ${scalar(line.parent)}`]
        .map(scalar)
        .filter(Boolean)
        .join(' ')
    case 'subagent_truncated':
      return `transcript of subagent ${scalar(line.subagent) ?? 'unknown'} was cut`
    default:
      return scalar(line.text) ?? scalar(line.content) ?? scalar(line.message) ?? scalar(line.warning)
  }
}

function textOfBlock(block: Line, hasThinking: boolean): string {
  switch (block.type) {
    case 'text':
      return scalar(block.text) ?? ''
    case 'tool_use':
      return `→ ${scalar(block.name) ?? 'tool'}(${inputText(block.input)})`
    case 'tool_result':
      return `[tool_result] ${resultText(block.content)}`
    case 'thinking':
      return hasThinking ? (scalar(block.thinking) ?? '') : ''
    default:
      return ''
  }
}

function inputText(input: unknown): string {
  return oneLine(input === undefined ? '' : JSON.stringify(input), INPUT_MAX)
}

function resultText(content: unknown): string {
  if (!Array.isArray(content)) return scalar(content) ?? ''
  return content
    .map((part) => scalar(objectOf(part).text) ?? '')
    .filter(Boolean)
    .join(' ')
}

function blocksOf(line: Line): Line[] {
  const { content } = objectOf(line.message)
  return Array.isArray(content) ? content.map(objectOf) : []
}
