/**
 * What Slack documents that a message may hold (docs.slack.dev/reference/block-kit: blocks, block elements, composition
 * objects; docs.slack.dev/reference/methods/chat.postMessage). The stand-in refuses what breaks them, as Slack does.
 */

type Json = Record<string, unknown>

/** The first limit a message breaks; null: none. */
export function brokenLimit(text: string, blocks: readonly Json[]): string | null {
  if (text.length > 40_000) return 'text: 40,000 characters'
  if (blocks.length > 50) return 'a message: 50 blocks'
  for (const block of blocks) {
    const broken =
      BLOCKS[String(block.type)]?.(block) ?? (String(block.type) in BLOCKS ? null : `block ${block.type}`)
    if (broken) return `${block.type}: ${broken}`
  }
  return null
}

const BLOCKS: Record<string, (block: Json) => string | null> = {
  header: ({ text }) => textIn(text, 150, 'plain_text'),
  section: ({ text, fields }) => {
    if (text === undefined && fields === undefined) return 'text or fields'
    if (text !== undefined) return textIn(text, 3_000)
    const all = fields as Json[]
    if (all.length === 0 || all.length > 10) return '1 to 10 fields'
    return first(all.map((field) => textIn(field, 2_000)))
  },
  context: ({ elements }) => {
    const all = elements as Json[]
    return all.length > 10 || all.length === 0
      ? '1 to 10 elements'
      : first(all.map((one) => textIn(one, 2_000)))
  },
  actions: ({ elements }) => {
    const all = elements as Json[]
    if (all.length === 0 || all.length > 25) return '1 to 25 elements'
    const ids = all.map(({ action_id }) => String(action_id))
    if (new Set(ids).size !== ids.length) return 'an action_id twice'
    return first(all.map(element))
  },
}

function element(of: Json): string | null {
  if (String(of.action_id).length > 255) return 'action_id: 255 characters'
  const confirm = of.confirm === undefined ? null : confirmation(of.confirm as Json)
  if (confirm) return confirm
  if (of.type === 'button')
    return first([
      textIn(of.text, 75, 'plain_text'),
      String(of.value ?? '').length > 2_000 ? 'value: 2,000 characters' : null,
      String(of.url ?? '').length > 3_000 ? 'url: 3,000 characters' : null,
      of.style === undefined || ['primary', 'danger'].includes(String(of.style)) ? null : 'style',
    ])
  if (of.type !== 'static_select') return `element ${of.type}`
  const options = of.options as Json[]
  if (options.length === 0 || options.length > 100) return '1 to 100 options'
  return first([
    textIn(of.placeholder, 150, 'plain_text'),
    ...options.flatMap(({ text, value }) => [
      textIn(text, 75, 'plain_text'),
      String(value).length > 150 ? 'value of an option: 150 characters' : null,
    ]),
  ])
}

const confirmation = ({ title, text, confirm, deny }: Json): string | null =>
  first([
    textIn(title, 100, 'plain_text'),
    textIn(text, 300),
    textIn(confirm, 30, 'plain_text'),
    textIn(deny, 30, 'plain_text'),
  ])

function textIn(of: unknown, max: number, type?: string): string | null {
  const { type: is, text } = (of ?? {}) as Json
  if (typeof text !== 'string' || text.length === 0) return 'a text that is not empty'
  if (type !== undefined && is !== type) return `a text of type ${type}`
  return text.length > max ? `${max} characters` : null
}

const first = (all: readonly (string | null)[]): string | null => all.find((one) => one !== null) ?? null
