/**
 * Values of an environment: declared in the catalog with a type and a default, set by the files of an environment,
 * and referred to as ((values.NAME)). Not `${NAME}`, which is a secret that the daemon reads when it needs it.
 */
import {
  type FileProblem,
  fieldOf,
  placeText,
  plain,
  problemAt,
  type Spot,
  type Value,
  valueAt,
} from './nodes.ts'

type ValueType = 'text' | 'number' | 'integer' | 'switch' | 'list' | 'map'
const TYPES: readonly string[] = ['text', 'number', 'integer', 'switch', 'list', 'map']
const TYPE_WORDS: Record<ValueType, string> = {
  text: 'text',
  number: 'a number',
  integer: 'a whole number',
  switch: 'true or false',
  list: 'a list',
  map: 'a map',
}
const FIELDS = ['type', 'default', 'description', 'one_of', 'min', 'max']

interface Declaration {
  name: string
  key: Spot
  type: ValueType
  default: Value | undefined
  oneOf: unknown[] | null
  min: number | null
  max: number | null
  used: boolean
}

/** What is told while documents are put together. */
export interface Told {
  problems: FileProblem[]
  warnings: FileProblem[]
}

/** Of one reference; `!` writes it out as it is. */
const REFERENCE = /\(\((!?)\s*values\.([A-Za-z_][A-Za-z0-9_-]*)\s*\)\)/g
const WHOLE = new RegExp(`^${REFERENCE.source}$`)

/** The values of one environment, and what refers to them. */
export class EnvironmentValues {
  private readonly declared = new Map<string, Declaration>()
  private readonly set = new Map<string, Value>()

  constructor(private readonly told: Told) {}

  /** Takes the `values` of a file of the catalog: each a default, or a map of type, default and rules. */
  declare(values: Value): void {
    if (values.kind !== 'map') {
      if (values.kind !== 'scalar' || values.value !== null)
        this.problem(values.spot, 'values must be a map of names to defaults, or to their type and rules')
      return
    }
    for (const [name, { key, value }] of values.fields) {
      const known = this.declared.get(name)
      if (known) this.problem(key, `the value ${name} is already declared at ${placeText(known.key)}`)
      else if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
        this.problem(key, 'the name of a value is letters, digits, dashes and underscores, a letter first')
      else this.take(name, key, value)
    }
  }

  private take(name: string, key: Spot, value: Value): void {
    const none = { name, key, oneOf: null, min: null, max: null, used: false }
    if (value.kind !== 'map') {
      this.declared.set(name, { ...none, type: typeOf(plain(value)), default: value })
      return
    }
    // What is wrong with it is told once, not again by each reference to it.
    this.declared.set(name, { ...none, type: 'map', default: value })
    const unknown = [...value.fields].find(([field]) => !FIELDS.includes(field))
    if (unknown) {
      this.problem(
        unknown[1].key,
        `${unknown[0]} is no rule of a value; there are ${FIELDS.join(', ')}. A default that is a map is given under default`,
      )
      return
    }
    const given = fieldOf(value, 'default')
    const type = fieldOf(value, 'type')
    const word = type ? plain(type) : given ? typeOf(plain(given)) : undefined
    if (typeof word !== 'string' || !TYPES.includes(word)) {
      this.problem(type?.spot ?? key, `type must be one of ${TYPES.join(', ')}`)
      return
    }
    const number = (field: string): number | null => {
      const at = fieldOf(value, field)
      const bound = at && plain(at)
      if (at && typeof bound !== 'number') this.problem(at.spot, `${field} must be a number`)
      return typeof bound === 'number' ? bound : null
    }
    const choice = fieldOf(value, 'one_of')
    if (choice && choice.kind !== 'list') this.problem(choice.spot, 'one_of must be a list')
    const oneOf = choice?.kind === 'list' ? (plain(choice) as unknown[]) : null
    const declaration: Declaration = {
      ...none,
      ...{ type: word as ValueType, default: given, oneOf, min: number('min'), max: number('max') },
    }
    this.declared.set(name, declaration)
    if (given) this.check(declaration, given)
  }

  /** Takes the `values` that a file of the environment sets; of two files the later one wins. */
  setAll(values: Value): void {
    if (values.kind !== 'map') {
      if (values.kind !== 'scalar' || values.value !== null)
        this.problem(values.spot, 'values of an environment must be a map of names to values')
      return
    }
    for (const [name, { key, value }] of values.fields) {
      const declaration = this.declared.get(name)
      if (!declaration) this.problem(key, `no file of the catalog declares a value ${name}${this.known()}`)
      else if (this.check(declaration, value)) this.set.set(name, value)
    }
  }

  /** A value with its references replaced; what is whole keeps its type, what is in a text becomes text. */
  resolve(value: Value): Value {
    if (value.kind === 'scalar') return this.scalar(value)
    if (value.kind === 'list') {
      const items = value.items.map((item) => this.resolve(item))
      return items.every((item, i) => item === value.items[i]) ? value : { ...value, items }
    }
    let changed = false
    const fields = new Map(
      [...value.fields].map(([name, field]) => {
        const inner = this.resolve(field.value)
        changed ||= inner !== field.value
        return [name, { ...field, value: inner }] as const
      }),
    )
    return changed ? { ...value, fields } : value
  }

  private scalar(scalar: Value & { kind: 'scalar' }): Value {
    const text = scalar.value
    if (typeof text !== 'string' || !text.includes('((')) return scalar
    const whole = WHOLE.exec(text)
    if (whole && !whole[1]) {
      const found = this.valueOf(whole[2]!, scalar.spot)
      return found ? valueAt(scalar.spot, plain(found)) : scalar
    }
    const written = text.replace(REFERENCE, (reference, escaped: string, name: string) => {
      if (escaped) return reference.replace('!', '')
      const found = this.valueOf(name, scalar.spot)
      const value = found ? plain(found) : ''
      if (typeof value === 'object') {
        this.problem(scalar.spot, `the value ${name} is no text or number, and can only stand alone`)
        return ''
      }
      return String(value)
    })
    return written === text ? scalar : { ...scalar, value: written }
  }

  private valueOf(name: string, spot: Spot): Value | null {
    const declaration = this.declared.get(name)
    if (!declaration) {
      this.problem(spot, `no file of the catalog declares a value ${name}${this.known()}`)
      return null
    }
    declaration.used = true
    return this.set.get(name) ?? declaration.default ?? null
  }

  /** Tells what has no value in this environment, and what nothing refers to. */
  finish(environment: string | null): void {
    for (const { name, key, default: given, used } of this.declared.values()) {
      if (!given && !this.set.has(name))
        this.problem(
          key,
          environment === null
            ? `the value ${name} has no default: choose an environment that sets it (--env)`
            : `the value ${name} has no default, and the environment ${environment} does not set it`,
        )
      else if (!used) this.told.warnings.push(problemAt(key, `nothing refers to the value ${name}`))
    }
  }

  private check({ name, type, oneOf, min, max }: Declaration, value: Value): boolean {
    const given = plain(value)
    const is = typeOf(given)
    const fits = is === type || (type === 'number' && is === 'integer')
    const rule = !fits
      ? `must be ${TYPE_WORDS[type]}`
      : oneOf && !oneOf.some((one) => JSON.stringify(one) === JSON.stringify(given))
        ? `must be one of ${oneOf.map((one) => String(one)).join(', ')}`
        : typeof given === 'number' && min !== null && given < min
          ? `must be at least ${min}`
          : typeof given === 'number' && max !== null && given > max
            ? `must be at most ${max}`
            : null
    if (rule) this.problem(value.spot, `the value ${name} ${rule}`)
    return rule === null
  }

  private known(): string {
    const names = [...this.declared.keys()].sort()
    return names.length ? `; there are ${names.slice(0, 20).join(', ')}` : ''
  }

  private problem(spot: Spot, message: string): void {
    this.told.problems.push(problemAt(spot, message))
  }
}

function typeOf(value: unknown): ValueType {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'boolean') return 'switch'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'object' && value !== null ? 'map' : 'text'
}
