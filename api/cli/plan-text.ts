/** A plan on a terminal: what would be made, changed field by field, deleted. */
import type { ChangePlan, FieldChange, PlannedChange } from '../../schemas/types.ts'
import { escapeLine, type Io, paint } from './terminal.ts'

const MARKS = { create: '+', update: '~', delete: '-', none: ' ' } as const
const COLOURS = { create: 'green', update: 'yellow', delete: 'red', none: 'dim' } as const

/** The plan as lines; what stays as it is is only counted. */
export function planText(io: Io, plan: ChangePlan): string {
  const changes = plan.changes.filter(({ action }) => action !== 'none')
  if (changes.length === 0) return `no change: ${plan.unchanged} as they are\n`
  return `${changes.map((change) => changeText(io, change)).join('')}${totals(plan)}`
}

function totals({ creates, updates, deletes, unchanged }: ChangePlan): string {
  return `${creates} to create, ${updates} to change, ${deletes} to delete, ${unchanged} as they are\n`
}

function changeText(io: Io, { action, kind, name, fields }: PlannedChange): string {
  const word = kind === 'mcp_server' ? 'MCP server' : kind
  const head = paint(io, COLOURS[action], `${MARKS[action]} ${word} ${escapeLine(name)}`)
  return (
    [head, ...(action === 'update' ? fields.map((field) => `    ${fieldText(field)}`) : [])].join('\n') + '\n'
  )
}

function fieldText({ path, from, to }: FieldChange): string {
  const name = path.split('/').slice(1).join('.') || 'all of it'
  return `${name}: ${valueText(from)} → ${valueText(to)}`
}

const VALUE_MAX = 120

function valueText(value: unknown): string {
  if (value === undefined || value === null) return 'not set'
  const text = JSON.stringify(value)
  return escapeLine(text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text)
}
