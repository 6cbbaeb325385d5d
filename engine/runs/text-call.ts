/** A tool call that a weak model wrote as JSON text instead of making it. */
import type { ToolCall, ToolSpec } from '../models/types.ts'

const NAMES = ['name', 'tool', 'function'] as const
const ARGUMENTS = ['arguments', 'parameters', 'input', 'args'] as const

/** @returns the call, or null when the text is none of one of these tools. */
export function callInText(text: string, tools: readonly ToolSpec[], id: string): ToolCall | null {
  const json = /^\s*(?:```(?:json)?\s*)?(\{[\s\S]*\})\s*(?:```)?\s*$/.exec(text)?.[1]
  if (json === undefined) return null
  let value: Record<string, unknown>
  try {
    value = JSON.parse(json) as Record<string, unknown>
  } catch {
    // A text that only looks like one is a text.
    return null
  }
  const name = NAMES.map((key) => value[key]).find((one) => typeof one === 'string') as string | undefined
  const known = tools.find((tool) => tool.name.toLowerCase() === name?.trim().toLowerCase())
  const given = ARGUMENTS.map((key) => value[key]).find((one) => one !== null && typeof one === 'object')
  return known && given ? { id, name: known.name, arguments: given as Record<string, unknown> } : null
}
