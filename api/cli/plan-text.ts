/** A plan on a terminal: what would be made, changed field by field, deleted. */
import { wordedFields } from '../../schemas/field-words.ts'
import type { ChangePlan, PlannedChange, VariableUse } from '../../schemas/types.ts'
import { fieldLines, kindName } from './field-text.ts'
import { escapeLine, type Io, paint } from './terminal.ts'

const MARKS = { create: '+', update: '~', delete: '-', none: ' ' } as const
const COLOURS = { create: 'green', update: 'yellow', delete: 'red', none: 'dim' } as const

/** The plan as lines; what stays as it is is only counted. */
export function planText(io: Pick<Io, 'colour'>, plan: ChangePlan): string {
  const changes = plan.changes.filter(({ action }) => action !== 'none')
  const owned = (plan.ownership ?? []).map((line) => `${escapeLine(line)}\n`).join('')
  if (changes.length === 0)
    return owned ? `${totals(plan)}${owned}` : `no change: ${plan.unchanged} as they are\n`
  const warnings = (plan.warnings ?? []).map((warning) => `warning: ${escapeLine(warning)}\n`).join('')
  const told = toldElsewhere(changes)
  return `${changes.map((change) => changeText(io, change, told)).join('')}${totals(plan)}${owned}${warnings}`
}

function totals({ creates, updates, deletes, unchanged }: ChangePlan): string {
  return `${creates} to create, ${updates} to change, ${deletes} to delete, ${unchanged} as they are\n`
}

/**
 * Fields of projects that say what a line of its own says: that a part is made here, deleted, or gets another name.
 * @returns their paths
 */
function toldElsewhere(changes: readonly PlannedChange[]): ReadonlySet<string> {
  const told = new Set<string>()
  for (const { action, kind, name, renamed_from: was } of changes)
    for (const one of was === undefined ? [name] : [name, was]) {
      if (was !== undefined || action !== 'update') told.add(`/uses/${kind}/${one}`)
      if (was !== undefined && kind === 'trigger') told.add(`/wakes/${one}`)
    }
  return told
}

function changeText(
  io: Pick<Io, 'colour'>,
  change: PlannedChange,
  told: ReadonlySet<string> = new Set(),
): string {
  const { action, kind, name, fields, variables = [], renamed_from: was } = change
  const head = paint(
    io,
    COLOURS[action],
    `${MARKS[action]} ${kindName(kind)} ${escapeLine(name)}${was === undefined ? '' : ` (renamed from ${escapeLine(was)})`}`,
  )
  const isTold = (path: string) => told.has(path) || told.has(path.split('/').slice(0, 3).join('/'))
  const worded = action === 'update' ? wordedFields(kind, fields) : []
  const own = kind === 'project' ? worded.filter(({ path }) => !isTold(path)) : worded
  const below = own.flatMap(({ sentence, ...field }) =>
    sentence === null ? fieldLines(io, field, kind) : [escapeLine(sentence)],
  )
  if (own.length < worded.length) below.push('its parts, as this plan makes, renames or deletes them')
  below.push(...variables.map(variableText))
  return `${[head, ...below.map((line) => `    ${line}`)].join('\n')}\n`
}

/** Which variable goes to which host: who approves a plan approves that. */
function variableText({ field, variable, host }: VariableUse): string {
  return `\${${variable}} is read for ${field}${host === null ? '' : ` and sent to ${escapeLine(host)}`}`
}
