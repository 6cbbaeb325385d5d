/** A plan on a terminal: what would be made, changed field by field, deleted. */
import type { ChangePlan, PlannedChange, VariableUse } from '../../schemas/types.ts'
import { fieldLines, kindName } from './field-text.ts'
import { escapeLine, type Io, paint } from './terminal.ts'

const MARKS = { create: '+', update: '~', delete: '-', none: ' ' } as const
const COLOURS = { create: 'green', update: 'yellow', delete: 'red', none: 'dim' } as const

/** The plan as lines; what stays as it is is only counted. */
export function planText(io: Pick<Io, 'colour'>, plan: ChangePlan): string {
  const changes = plan.changes.filter(({ action }) => action !== 'none')
  if (changes.length === 0) return `no change: ${plan.unchanged} as they are\n`
  const warnings = (plan.warnings ?? []).map((warning) => `warning: ${escapeLine(warning)}\n`).join('')
  return `${changes.map((change) => changeText(io, change)).join('')}${totals(plan)}${warnings}`
}

function totals({ creates, updates, deletes, unchanged }: ChangePlan): string {
  return `${creates} to create, ${updates} to change, ${deletes} to delete, ${unchanged} as they are\n`
}

function changeText(io: Pick<Io, 'colour'>, change: PlannedChange): string {
  const { action, kind, name, fields, variables = [], renamed_from: was } = change
  const head = paint(
    io,
    COLOURS[action],
    `${MARKS[action]} ${kindName(kind)} ${escapeLine(name)}${was === undefined ? '' : ` (renamed from ${escapeLine(was)})`}`,
  )
  const below = action === 'update' ? fields.flatMap((field) => fieldLines(io, field)) : []
  below.push(...variables.map(variableText))
  return `${[head, ...below.map((line) => `    ${line}`)].join('\n')}\n`
}

/** Which variable goes to which host: who approves a plan approves that. */
function variableText({ field, variable, host }: VariableUse): string {
  return `\${${variable}} is read for ${field}${host === null ? '' : ` and sent to ${escapeLine(host)}`}`
}
