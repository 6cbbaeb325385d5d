/**
 * An example of each body and answer, made of its schema: what the schema says itself (`examples`), else a value
 * that fits its form. One test holds that each fits its schema.
 */

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  format?: string
  pattern?: string
  description?: string
}

/** Where the optional fields of an answer are shown; deeper only those that are always there. */
const SHOWN_DEPTH = 3
/** No example: the schema leads back to itself. */
const NONE = Symbol('none')

interface At {
  /** Name of the field. */
  name: string
  depth: number
  /** References on the way here. */
  within: readonly string[]
  /** Optional fields too, as far as SHOWN_DEPTH. */
  whole: boolean
}

/**
 * @param find the schema a reference leads to.
 * @param whole with optional fields: of answers. Bodies have what they must have.
 */
export function exampleOf(schema: Schema, find: (ref: string) => Schema, whole: boolean): unknown {
  const made = sample(schema, { name: '', depth: 0, within: [], whole })
  return made === NONE ? null : made

  function sample(one: Schema, at: At): unknown {
    if (one.$ref !== undefined) {
      if (at.within.includes(one.$ref)) return NONE
      return sample(find(one.$ref), { ...at, within: [...at.within, one.$ref] })
    }
    if (Array.isArray(one.examples) && one.examples.length > 0) return one.examples[0]
    if (one.const !== undefined) return one.const
    if (one.enum) return one.enum.find((value) => value !== null) ?? null
    const variants = one.anyOf ?? one.oneOf
    if (variants) return firstOf(variants, at)
    const types = [one.type ?? []].flat()
    const type = types.find((given) => given !== 'null') ?? types[0]
    if (type === 'object') return object(one, at)
    if (type === 'array') return array(one, at)
    if (type === 'integer' || type === 'number') return number(one, type, at.name)
    if (type === 'boolean') return /^(ok|enabled|configured|delivered)$/.test(at.name)
    // What may be missing is, unless it is known what it looks like.
    if (type === 'string')
      return types.includes('null') && !(at.name in TEXTS) && one.format === undefined
        ? null
        : text(one, at.name)
    return type === 'null' ? null : 'checkout'
  }

  function firstOf(variants: readonly Schema[], at: At): unknown {
    const known = variants.filter(({ type }) => type !== 'null')
    for (const variant of known) {
      const made = sample(variant, at)
      if (made !== NONE) return made
    }
    return known.length < variants.length ? null : NONE
  }

  function object(one: Schema, at: At): unknown {
    const made: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(one.properties ?? {})) {
      const isNeeded = one.required?.includes(name) ?? false
      if (!isNeeded && !(at.whole && at.depth < SHOWN_DEPTH)) continue
      const value = sample(field, { ...at, name, depth: at.depth + 1 })
      if (value !== NONE) made[name] = value
      else if (isNeeded) return NONE
    }
    const { additionalProperties: others } = one
    if (typeof others === 'object' && Object.keys(one.properties ?? {}).length === 0) {
      const value = sample(others, { ...at, depth: at.depth + 1 })
      if (value !== NONE) made.checkout = value
    }
    return made
  }

  function array(one: Schema, at: At): unknown {
    if (!one.items || (!at.whole && !one.minItems)) return []
    const entry = sample(one.items, { ...at, depth: at.depth + 1 })
    return entry === NONE ? [] : [entry]
  }
}

function number(
  { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema,
  type: string,
  name: string,
): number {
  const wanted = NUMBERS[name] ?? (type === 'integer' ? 1 : 0.5)
  return Math.min(maximum, Math.max(minimum, wanted))
}

const NUMBERS: Readonly<Record<string, number>> = {
  version: 12,
  change_set: 12,
  cost_usd: 0.0123,
  line: 3,
  column: 5,
  index: 0,
  port: 7601,
  max_rounds: 12,
  input_tokens: 1840,
  output_tokens: 210,
}

function text(
  { format, pattern, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER, description }: Schema,
  name: string,
): string {
  if (format === 'date-time') return TIME
  const fits = (given: string | undefined) =>
    given !== undefined &&
    given.length >= minLength &&
    given.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(given))
  // A sentence says best what its text is about; no example is Markdown.
  const said = description && !/^\w+\.$/.test(description) ? description.replaceAll('`', '') : undefined
  const known = TEXTS[name] ?? (/(_at|^at|^from|^to)$/.test(name) ? TIME : undefined)
  return [known, pattern === undefined ? said : undefined, ...CANDIDATES].find(fits) ?? ''
}

const TIME = '2026-11-20T12:00:00Z'

/** For patterns: the first that fits is taken. */
const CANDIDATES = [
  'checkout',
  '15m',
  'evt_42',
  '> 5',
  'https://example.com/hook',
  'CHECKOUT',
  'E3kq8c9pY0vJ1sWmZ2xTnB4rLhGdUaQfOe7iPb5yKxA',
  'E3kq8c9pY0vJ1sWmZ2xTnB4rLhGdUaQfOe7iPb5yKxAVwN6t',
  '3f79bb7b435b05321651daefd374cdc681dc06faa65e374e38337b88ca046dea',
  'index',
]

const TEXTS: Readonly<Record<string, string>> = {
  name: 'checkout',
  names: 'checkout',
  template: 'webhook_watch',
  recipe: 'webhook_watch',
  template_title: 'Webhook watch',
  recipe_title: 'Webhook watch',
  type: 'event_stream',
  source_type: 'event_stream',
  event_type: 'error',
  state: 'active',
  status: 'active',
  value: 'A-1001',
  by: 'operator',
  actor: 'operator',
  created_by: 'operator',
  username: 'reader',
  id: 'run_019aa2f3c4d57e8b9a0b1c2d3e4f5061',
  run_id: 'run_019aa2f3c4d57e8b9a0b1c2d3e4f5061',
  root_run_id: 'run_019aa2f3c4d57e8b9a0b1c2d3e4f5061',
  dispatch_id: '019aa2f3c4d57e8b9a0b1c2d3e4f5061',
  delivery_id: 'dlv_019aa2f3c4d57e8b9a0b1c2d3e4f5061',
  subscription_id: 'sub_9f1c2e3a4b5d6071',
  event_id: 'evt_42',
  project: 'uc_4f2a91c07b',
  source: 'gateway',
  sources: 'gateway',
  trigger: 'payment_errors',
  agent: 'first-look',
  entity: 'A-1001',
  is: 'service=api',
  owned_by: 'team=payments',
  key: 'A-1001',
  label: 'order',
  connector: 'webhook',
  url: 'https://example.com/hook',
  endpoint: 'https://example.com/hook',
  base_url: 'https://models.example.com/v1',
  api_url: 'https://api.github.com',
  description: 'Payments that were declined.',
  detail: 'What was found, in a sentence.',
  message: 'card declined',
  text: 'card declined',
  summary: 'Payments of order A-1001 were declined twice.',
  headline: 'The card was declined twice.',
  note: 'The card was declined twice; the customer tried another one.',
  finding: 'The card was declined twice; the customer tried another one.',
  prompt: 'Look at what happened to this order, and say what is to be done.',
  question: 'What changed for checkout since noon?',
  goal: 'Tell us when payments are declined more often than usual.',
  verdict: 'resolved',
  model: 'model-large',
  version: '1.0.0',
  definition_hash: '3f79bb7b435b',
  fingerprint: '3f79bb7b435b0532',
  window: '15m',
  cooldown: '5m',
  poll: '30s',
  yaml: 'sources:\n  - name: gateway\n    connector: webhook\n',
  why: 'Less noise at night.',
  path: '/cooldown',
  scopes: 'read',
  accepts: 'pause',
  kind: 'webhook',
  title: 'Checkout',
}
