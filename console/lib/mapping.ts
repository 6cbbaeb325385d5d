/** What role a payload field has in a webhook's config, and the config with another: pure, for the fields that are clicked. */
import type { Label } from '../../schemas/types.ts'

type Config = Record<string, unknown>

/** Roles a person can give a field. */
export const ROLES = [
  { role: 'entity', word: 'Entity', help: 'Each value gets a timeline' },
  { role: 'label', word: 'Label', help: 'Events can be chosen by it' },
  { role: 'type', word: 'Type', help: 'What kind of event it is' },
  { role: 'time', word: 'Time', help: 'When it happened' },
  { role: 'text', word: 'Text', help: 'What the row says' },
] as const
export type Role = (typeof ROLES)[number]['role']

/** The roles a field has. */
export function rolesOf(config: Config, field: string): Role[] {
  const label = labelsOf(config).find((one) => isOf(one, field))
  return [
    ...(label ? [label.primary ? ('entity' as const) : ('label' as const)] : []),
    ...(config.event_type_field === field ? ['type' as const] : []),
    ...(isTime(config, field) ? ['time' as const] : []),
    ...(String(config.text_template ?? '').includes(`{${field}}`) ? ['text' as const] : []),
  ]
}

/** The config with the role given to the field, or taken from it where it has it. */
export function withRole(config: Config, field: string, role: Role): Config {
  const isTaken = rolesOf(config, field).includes(role)
  if (role === 'entity' || role === 'label')
    return withLabels(config, isTaken ? without(config, field) : given(config, field, role))
  if (role === 'text') return set(config, 'text_template', isTaken ? cut(config, field) : `{${field}}`)
  const isEnd = role === 'time' && config.event_end_field === field
  const name = role === 'type' ? 'event_type_field' : isEnd ? 'event_end_field' : 'event_time_field'
  return set(config, name, isTaken ? '' : field)
}

/** When it happened, or when it was over. */
const isTime = (config: Config, field: string): boolean =>
  config.event_time_field === field || config.event_end_field === field

const labelsOf = (config: Config): Label[] => (config.labels ?? []) as Label[]

const isOf = (label: Label, field: string): boolean => 'field' in label && label.field === field

const without = (config: Config, field: string): Label[] =>
  labelsOf(config).filter((label) => !isOf(label, field))

function given(config: Config, field: string, role: 'entity' | 'label'): Label[] {
  const own = labelsOf(config).find((label) => isOf(label, field))
  const others = without(config, field)
  const name = own?.name ?? nameFor(field, others)
  if (role === 'label')
    return [...others, { ...(own ?? { field }), name, primary: false } as Label].map(plain)
  const { type: _text, ...rest } = own ?? { field }
  return [
    { ...rest, name, primary: true } as Label,
    ...others.map((label) => plain({ ...label, primary: false } as Label)),
  ]
}

/** A label that is not the entity says nothing of it. */
function plain(label: Label): Label {
  if (label.primary) return label
  const { primary: _none, ...rest } = label
  return rest as Label
}

/** A name for a label that no other has: of the last part of the field, or of all. */
export function nameFor(field: string, others: readonly Label[]): string {
  const parts = field.split('.').filter((part) => !/^\d+$/.test(part))
  const said = (some: string[]) =>
    some
      .join('_')
      .replaceAll(/[^A-Za-z0-9_]+/g, '_')
      .slice(0, 64) || 'label'
  const names = [said(parts.slice(-1)), said(parts.slice(-2)), said(parts)]
  const taken = new Set(others.map(({ name }) => name))
  return names.find((name) => !taken.has(name)) ?? `${names[2]!.slice(0, 60)}_${others.length}`
}

const withLabels = (config: Config, labels: Label[]): Config =>
  set(config, 'labels', labels.length ? labels : '')

/** Without it where it is empty. */
function set(config: Config, name: string, value: unknown): Config {
  const { [name]: _was, ...rest } = config
  return value === '' ? rest : { ...rest, [name]: value }
}

/** The template without the field, and without what then joins nothing. */
const cut = (config: Config, field: string): string => {
  const rest = String(config.text_template ?? '')
    .replaceAll(`{${field}}`, '')
    .trim()
  return /\{[^{}]+\}/.test(rest) ? rest.replace(/^[:\s]+|[:\s]+$/g, '') : ''
}

/** What of a webhook's config says how payloads are read; the rest says who may send. */
export const mappingOf = (config: Config): Config =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !name.startsWith('signature_')))

/** The config with another mapping; who may send stays. */
export const withMapping = (config: Config, mapping: Config): Config => ({
  ...Object.fromEntries(Object.entries(config).filter(([name]) => name.startsWith('signature_'))),
  ...mapping,
})

/** Whether a config reads anything of a payload. */
export const isMapped = (config: Config): boolean => Object.keys(mappingOf(config)).length > 0

/** A name for a source whose events are read like this: of the label that is the entity. */
export function nameOfSource(config: Config, taken: readonly string[]): string {
  const entity = labelsOf(config).find(({ primary }) => primary)?.name
  const base = entity ? `${entity}-events`.replaceAll('_', '-').slice(0, 60) : 'webhook'
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base}-${n}`
    if (!taken.includes(name)) return name
  }
}

/** Values of what is named like a secret, taken out of a sample before it is kept in the browser. */
export const withoutNamedSecrets = (text: string): string =>
  text.replaceAll(
    /("[^"]*(?:token|secret|passw|authorization|api_?key|credential|signature)[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi,
    '$1"…"',
  )
