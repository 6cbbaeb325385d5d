/**
 * A plan as a model or a person wrote it, read into the whole shape of plan.json: what is missing is
 * empty, what is no part of a plan is left out. Whether it makes sense is said by the check.
 */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type {
  AgentHandoff,
  Filter,
  Plan,
  PlanAgent,
  PlanKnob,
  PlanSkill,
  PlanTool,
  PlanWake,
  PlanWatch,
  Verdict,
} from '../../../schemas/types.ts'
import { filledIn, plainLine, plainText, withoutPlaceholders } from './scrub.ts'

type Fields = Record<string, unknown>

/** Entries of a section that are looked at; more is none of a plan. */
const SECTION_MAX = 20
const NOTES_MAX = 10
const KNOBS = ['threshold', 'window_minutes', 'cooldown_minutes', 'every_minutes']

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, SECTION_MAX) : [])
const rowsOf = (value: unknown): Fields[] => listOf(value).filter(isFields)
const textsOf = (value: unknown): string[] => listOf(value).map(plainLine).filter(Boolean)

/** @param given any JSON value. @param goal of the draft, where the plan says none. */
export function readPlan(given: unknown, goal = ''): Plan {
  const plan = fieldsOf(given)
  const who = plan.who === 'own' ? 'own' : 'svc'
  const own = isFields(plan.own_agent) ? plan.own_agent : null
  return {
    goal: plainLine(plan.goal) || goal,
    name: filledIn(plainLine(plan.name)),
    summary: '',
    who,
    watches: keyed('w', rowsOf(plan.watches).map(readWatch)),
    wakes: keyed('k', rowsOf(plan.wakes).map(readWake)),
    agents: keyed('a', rowsOf(plan.agents).map(readAgent)),
    own_agent:
      own && who === 'own'
        ? { name: filledIn(own.name), wake: own.wake === 'webhook' ? 'webhook' : 'poll', sentence: '' }
        : null,
    tools: keyed('t', rowsOf(plan.tools).map(readTool)),
    skills: keyed('s', rowsOf(plan.skills).map(readSkill)),
    notes: textsOf(plan.notes).slice(0, NOTES_MAX),
  }
}

/** Every entry has a key of its own: the one it has, or the next free one. */
function keyed<T extends { key: string }>(letter: string, rows: T[]): T[] {
  const taken = new Set<string>()
  const isFree = (key: string) => /^[a-z][a-z0-9]{0,9}$/.test(key) && !taken.has(key)
  const given = rows.map(({ key }) => {
    const own = isFree(key) ? key : ''
    taken.add(own)
    return own
  })
  let n = 0
  return rows.map((row, i) => {
    let key = given[i]!
    while (key === '') {
      n++
      if (isFree(`${letter}${n}`)) key = `${letter}${n}`
    }
    taken.add(key)
    return { ...row, key }
  })
}

function readWatch(row: Fields): PlanWatch {
  const existing = row.existing === true
  const config = existing ? {} : (withoutPlaceholders(fieldsOf(row.config)) as Fields)
  return {
    key: plainText(row.key),
    existing,
    name: filledIn(row.name),
    connector: plainText(row.connector),
    poll: existing ? null : filledIn(row.poll) || null,
    config: Array.isArray(config.labels) ? { ...config, labels: config.labels.map(readLabel) } : config,
    sentence: '',
    needs: 'none',
    secrets: [],
    sample: isFields(row.sample) ? row.sample : null,
  }
}

/** A label that says neither a constant nor a field reads the field of its own name. */
function readLabel(label: unknown): unknown {
  if (!isFields(label)) return label
  const isSaid = Boolean(label.field) || (label.const !== undefined && label.const !== '')
  return isSaid ? label : { ...label, field: label.name }
}

function readWake(row: Fields): PlanWake {
  return {
    key: plainText(row.key),
    name: filledIn(row.name),
    sources: [...new Set(textsOf(row.sources))],
    filters: rowsOf(row.filters) as FieldsOf<Filter>[],
    key_field: filledIn(row.key_field),
    condition: fieldsOf(row.condition),
    cooldown: filledIn(row.cooldown),
    window: filledIn(row.window),
    sentence: '',
    cooldown_sentence: '',
    knobs: rowsOf(row.knobs)
      .filter(({ id, value }) => KNOBS.includes(String(id)) && Number.isFinite(value))
      .map(({ id, value }) => ({ id, label: '', value, min: 0, max: 0 }) as PlanKnob),
  }
}

function readAgent(row: Fields): PlanAgent {
  const existing = row.existing === true
  const optional = row.optional === true
  return {
    key: plainText(row.key),
    existing,
    name: filledIn(row.name),
    trigger: row.on_trigger === false ? '' : plainLine(row.trigger),
    prompt: existing ? '' : plainText(row.prompt),
    model: existing ? '' : filledIn(row.model),
    verdicts: existing ? [] : listOf(row.verdicts).flatMap(readVerdict),
    handoffs: rowsOf(row.handoffs).map(readHandoff),
    mcp_servers: existing ? [] : [...new Set(textsOf(row.mcp_servers))],
    sentence: '',
    optional,
    enabled: optional ? row.enabled !== false : true,
  }
}

function readVerdict(given: unknown): Verdict[] {
  const row = typeof given === 'string' ? { verdict: given } : fieldsOf(given)
  const verdict = plainLine(row.verdict).toLowerCase()
  const when = plainLine(row.when)
  return verdict ? [{ verdict, ...(when ? { when } : {}) }] : []
}

function readHandoff(row: Fields): AgentHandoff {
  const cooldown = filledIn(row.cooldown)
  return {
    verdict: plainLine(row.verdict).toLowerCase(),
    agent: plainLine(row.agent),
    ...(cooldown ? { cooldown } : {}),
  }
}

function readTool(row: Fields): PlanTool {
  const existing = row.existing === true
  return {
    key: plainText(row.key),
    name: filledIn(row.name),
    url: existing ? '' : filledIn(row.url),
    why: plainLine(row.why),
    can_act: row.can_act === true,
    enabled: existing ? row.enabled !== false : row.enabled === true,
    existing,
  }
}

function readSkill(row: Fields): PlanSkill {
  const existing = row.existing === true
  return {
    key: plainText(row.key),
    name: filledIn(row.name),
    existing,
    description: existing ? '' : plainText(row.description),
    body: existing ? '' : plainText(row.body),
    enabled: row.enabled !== false,
  }
}
