/**
 * What the kernel does with the items of a source: a plan of plain fields at the top of an item. A source
 * that asks for more (nested fields, patterns, numbers, keys) has none, and is read item by item.
 */
import type { Label } from '../../../schemas/types.ts'
import type { FlatMapping } from '../../sources/connectors/connector.ts'

/** Labels and fields at most, and bytes of their names and constants, so that a plan has a fixed place. */
const FIELDS_MAX = 64
export const PLAN_BYTES = 32_768
const NOTHING = -1

export interface FlatLabel {
  name: string
  /** Place in `fields`; -1: `value` is its constant. */
  field: number
  value: string
}

export interface FlatPlan {
  fields: string[]
  labels: FlatLabel[]
  firstIsEntity: boolean
  type: { field: number; fixed: string }
  /** Place in `fields`; -1: none. */
  time: number
  /** Literal text, or the place of a field. */
  text: (string | number)[]
  /** Bodies that came with one of these headers are read item by item. */
  unlessHeaders: readonly string[]
}

/** Printable ASCII: what is copied into a text as it is. */
const PRINTABLE = /^[\x20-\x7e]*$/

/** @returns the plan, or null where the source asks for more than the kernel does. */
export function flatPlanOf(mapping: FlatMapping | null, labels: readonly Label[]): FlatPlan | null {
  if (!mapping) return null
  const fields: string[] = []
  const place = (name: string): number => {
    const known = fields.indexOf(name)
    return known >= 0 ? known : fields.push(name) - 1
  }
  const primary = labels.find((label) => label.primary)
  const ordered = primary ? [primary, ...labels.filter((label) => label !== primary)] : labels
  const plan: FlatPlan = {
    fields,
    labels: ordered.map((label) =>
      'field' in label
        ? { name: label.name, field: place(label.field), value: '' }
        : { name: label.name, field: NOTHING, value: String(label.const) },
    ),
    firstIsEntity: primary !== undefined,
    type: {
      field: mapping.typeField === undefined ? NOTHING : place(mapping.typeField),
      fixed: mapping.type,
    },
    time: mapping.timeField === undefined ? NOTHING : place(mapping.timeField),
    text: mapping.text.map((part) => (typeof part === 'string' ? part : place(part.field))),
    unlessHeaders: mapping.unlessHeaders,
  }
  return isFlat(plan, labels) ? plan : null
}

function isFlat({ fields, labels: planned, text }: FlatPlan, labels: readonly Label[]): boolean {
  const isPlain = labels.every(
    (label) =>
      label.type !== 'number' &&
      ('const' in label
        ? PRINTABLE.test(String(label.const)) && label.const !== ''
        : !label.pattern && !label.map),
  )
  const bytes = [
    ...fields,
    ...text.filter((part) => typeof part === 'string'),
    ...planned.map((l) => l.value),
  ]
  return (
    isPlain &&
    planned.length <= FIELDS_MAX &&
    fields.length <= FIELDS_MAX &&
    // Dots reach into an item; and of a name with an escape the kernel sees other bytes.
    fields.every(
      (name) => name !== '' && name !== '__proto__' && PRINTABLE.test(name) && !/[."\\]/.test(name),
    ) &&
    text.length > 0 &&
    text.every((part) => typeof part === 'number' || PRINTABLE.test(part)) &&
    bytes.join('').length < PLAN_BYTES / 4
  )
}

const FIELD_WORDS = 3
const LABEL_WORDS = 4
const PART_WORDS = 3
const HEAD_WORDS = 11
const HASHES = 256

/**
 * The plan as the kernel reads it (assembly/plan.ts has the layout).
 * @param at address it will have. @param nameOf number of a label name.
 */
export function encodePlan(plan: FlatPlan, at: number, nameOf: (name: string) => number): Uint8Array {
  const { fields, labels, text } = plan
  const words =
    HEAD_WORDS + fields.length * FIELD_WORDS + labels.length * LABEL_WORDS + text.length * PART_WORDS
  const bytes = Buffer.alloc(PLAN_BYTES)
  let free = words * 4
  const word = (index: number, value: number) => bytes.writeInt32LE(value | 0, index * 4)
  /** Writes the address and size of a text. */
  const put = (index: number, value: string) => {
    word(index, at + free)
    const size = bytes.write(value, free, 'utf8')
    word(index + 1, size)
    free += size
  }
  const fieldsAt = HEAD_WORDS
  const labelsAt = fieldsAt + fields.length * FIELD_WORDS
  const partsAt = labelsAt + labels.length * LABEL_WORDS
  const headsAt = free
  free += HASHES
  fields.forEach((name, i) => {
    const index = fieldsAt + i * FIELD_WORDS
    put(index, name)
    const hash = headsAt + hashOf(name)
    word(index + 2, bytes[hash]!)
    bytes[hash] = i + 1
  })
  labels.forEach(({ name, field, value }, i) => {
    const index = labelsAt + i * LABEL_WORDS
    word(index, nameOf(name))
    word(index + 1, field)
    put(index + 2, value)
  })
  text.forEach((part, i) => {
    const index = partsAt + i * PART_WORDS
    word(index, typeof part === 'number' ? part : NOTHING)
    if (typeof part === 'string') put(index + 1, part)
  })
  const heads = [headsAt, fieldsAt * 4].map((offset) => at + offset)
  heads.push(labels.length, at + labelsAt * 4, plan.firstIsEntity ? 1 : 0, plan.type.field)
  heads.forEach((value, i) => {
    word(i, value)
  })
  put(6, plan.type.fixed)
  word(8, plan.time)
  word(9, text.length)
  word(10, at + partsAt * 4)
  return bytes.subarray(0, free)
}

/** Of a name's first and last character and its length; names are ASCII. */
function hashOf(name: string): number {
  return (name.charCodeAt(0) * 7 + name.charCodeAt(name.length - 1) * 3 + name.length) & (HASHES - 1)
}
