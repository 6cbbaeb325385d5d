/**
 * Changed fields of projects in sentences: what a project uses, wires and stops is no field of a catalog file, where
 * `objects`, `wiring` and the parts themselves say it.
 */
import { kindWord } from './kinds.ts'
import type { FieldChange } from './types.ts'

/** A changed field; where it is none of a catalog file with a sentence, of which the project is "it". */
export interface WordedField extends FieldChange {
  sentence: string | null
}

type Sentence = (names: readonly string[], is: { before: unknown; after: unknown }) => string

/** By field of a project: how many names stand below it, and what their coming, going and changing mean. */
const RELATIONS: Readonly<
  Record<string, { names: number; told: Sentence; place: (names: string[]) => string }>
> = {
  uses: {
    names: 2,
    place: ([kind = '', name = 'parts']) => `objects: ${partOf(kind, name)}`,
    told: ([kind = '', name = ''], { before, after }) => {
      const part = partOf(kind, name)
      if (after === undefined) return `${part} leaves it`
      const isOwned = fieldIn(after, 'owned') === true
      if (before === undefined) return isOwned ? `${part} joins it` : `${part} is shared with it`
      return isOwned
        ? `${part}, which is shared with it, belongs to it`
        : `${part} stays shared with it, and no longer belongs to it`
    },
  },
  wakes: {
    names: 2,
    place: ([trigger = '', agent = 'agents']) => `wiring: trigger ${trigger} wakes ${agent}`,
    told: ([trigger = '', agent = ''], { before, after }) => {
      const wake = `trigger ${trigger} wakes agent ${agent}`
      if (after === undefined) return `${wake} no more`
      const state = fieldIn(after, 'enabled') === true ? 'on' : 'off'
      if (before !== undefined) return `${wake}: switched ${state}`
      return state === 'on' ? wake : `${wake}, switched off`
    },
  },
  handoffs: {
    names: 3,
    place: ([agent = '', verdict = 'verdicts', to = 'agents']) =>
      `wiring: agent ${agent} hands over to ${to} on ${verdict}`,
    told: ([agent = '', verdict = '', to = ''], { before, after }) => {
      const handoff = `agent ${agent} hands over to agent ${to} on ${verdict}`
      if (after === undefined) return `${handoff} no more`
      const [was, is] = [before, after].map((value) => String(fieldIn(value, 'cooldown')))
      return before === undefined
        ? `${handoff}, at most once in ${is}`
        : `${handoff}: at most once in ${was} → ${is}`
    },
  },
  // What each part becomes is said of the part itself.
  plan: {
    names: 0,
    place: () => 'what its template plans',
    told: () => 'its template plans its parts anew',
  },
  stopped: {
    names: 2,
    place: ([list = '', name = 'parts']) => `what its pause stops: ${stoppedOf(list, [name])}`,
    told: ([list = '', ...names], { after }) =>
      `its pause stops ${stoppedOf(list, names)}${after === undefined ? ' no more' : ''}`,
  },
}

const partOf = (kind: string, name: string): string => `${kindWord(kind)} ${name}`

/** What a pause stopped is noted by the words of the sections. */
const stoppedOf = (list: string, [name = '', agent]: readonly string[]): string =>
  list === 'wakes'
    ? `trigger ${name} from waking${agent === undefined ? '' : ` agent ${agent}`}`
    : `${list.replace(/s$/, '')} ${name}`

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldIn = (value: unknown, field: string): unknown => (isFields(value) ? value[field] : undefined)

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const pointerOf = (steps: readonly string[]): string =>
  steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const namesBelow = ([field = '', list]: readonly string[]): number | undefined => {
  const relation = Object.hasOwn(RELATIONS, field) ? RELATIONS[field] : undefined
  return relation && (field === 'stopped' && list === 'wakes' ? 3 : relation.names)
}

/**
 * Changed fields as people are told them, in their order.
 * @param kind of the object that they are fields of
 */
export function wordedFields(kind: string, fields: readonly FieldChange[]): WordedField[] {
  if (kind !== 'project') return fields.map((field) => ({ ...field, sentence: null }))
  const worded = fields.flatMap((field) => wordedField(field))
  return worded.filter(
    ({ sentence }, i) => sentence === null || worded.findIndex((one) => one.sentence === sentence) === i,
  )
}

function wordedField(field: FieldChange): WordedField[] {
  const steps = stepsOf(field.path)
  const names = namesBelow(steps)
  if (names === undefined) return [{ ...field, sentence: null }]
  const depth = names + 1
  if (steps.length < depth) {
    const keys = new Set(
      [field.from, field.to].flatMap((value) => (isFields(value) ? Object.keys(value) : [])),
    )
    return [...keys].flatMap((key) => {
      const inner = { from: fieldIn(field.from, key), to: fieldIn(field.to, key) }
      return wordedField({ path: pointerOf([...steps, key]), ...inner })
    })
  }
  // A field of what relates the two: it was there, and stays.
  const whole = (value: unknown): unknown => (steps.length > depth ? { [steps[depth]!]: value } : value)
  const [relation = '', ...all] = steps.slice(0, depth)
  const is = { before: whole(field.from), after: whole(field.to) }
  return [{ ...field, path: pointerOf([relation, ...all]), sentence: RELATIONS[relation]!.told(all, is) }]
}

/**
 * What a field of a project is called where its values stand beside it.
 * @returns null for one that a catalog file has by this name
 */
export function placeWords(kind: string, pointer: string): string | null {
  const [field = '', ...names] = stepsOf(pointer)
  if (kind !== 'project' || !Object.hasOwn(RELATIONS, field)) return null
  return RELATIONS[field]!.place(names)
}

/** A field as a person says it: `config.labels` for the pointer /config/labels (RFC 6901), nothing for all of it. */
export const fieldWords = (kind: string, pointer: string): string =>
  placeWords(kind, pointer) ?? stepsOf(pointer).join('.')
