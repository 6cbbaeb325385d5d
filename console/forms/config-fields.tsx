/**
 * A connector's fields as a form, from its JSON Schema. The daemon is the judge of values: its
 * validator speaks the same words everywhere, and a validator that compiles schemas here would
 * need the page to allow eval.
 */
import { Accordion } from '@mantine/core'
import Form from '@rjsf/mantine'
import type { ErrorSchema, RJSFSchema, UiSchema, ValidatorType } from '@rjsf/utils'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { atField } from '../lib/field-errors.ts'
import { useMay } from '../parts/may.tsx'
import { configTemplates } from './config-templates.tsx'
import { CredentialField } from './credential-field.tsx'
import { DurationField } from './duration-field.tsx'
import { JsonField } from './json-field.tsx'
import { RepositoriesField, RepositoryField } from './repository-field.tsx'

interface Property {
  type?: string
  description?: string
  enum?: unknown[]
  maxLength?: number
  items?: { title?: string; properties?: Record<string, Property> }
  'x-secret'?: boolean
  'x-advanced'?: boolean
  'x-discover-input'?: boolean
  'x-credential'?: string
  'x-widget'?: string
  'x-names'?: Record<string, string>
}

/** Characters from which a text is a document, and not a line or a few. */
const DOCUMENT = 65_536
const FIELDS = { DurationField, JsonField, CredentialField, RepositoryField, RepositoriesField }
/** The field that draws a kind of value. */
const DRAWN_BY: Readonly<Record<string, string>> = {
  duration: 'DurationField',
  json: 'JsonField',
  credential: 'CredentialField',
  repository: 'RepositoryField',
  repositories: 'RepositoriesField',
}

// The answer of the API is the check: of a validator the form uses these alone.
const trusting: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: () => true,
  rawValidation: () => ({ errors: [] }),
  toErrorList: () => [],
} as unknown as ValidatorType

interface Props {
  schema: Record<string, unknown>
  value: Record<string, unknown>
  onChange: (value: Record<string, unknown>) => void
  /** Takes what the form itself fills in, such as defaults, which nobody typed; absent: `onChange` does. */
  onBegin?: ((own: Record<string, unknown>) => void) | undefined
  /** What is wrong, by field. */
  errors?: Readonly<Record<string, string>>
  /** Begins the ids of its inputs, where there is more than one such form on a page. */
  idPrefix?: string
  /** Shown after the fields that discovery asks with, which then come first. */
  children?: ReactNode
}

export function ConfigFields({
  schema,
  value,
  onChange,
  onBegin,
  errors,
  idPrefix = 'config',
  children,
}: Props) {
  const hasDiscovery = Boolean(children)
  const { inputs, plain, advanced } = useMemo(() => splitSchema(schema, hasDiscovery), [schema, hasDiscovery])
  // The parts give what they begin with one after the other, before the page has drawn what the first of them gave.
  const latest = useRef(value)
  latest.current = value
  const part = (names: string[]) =>
    Object.fromEntries(names.filter((name) => value[name] !== undefined).map((name) => [name, value[name]]))
  const render = (shown: RJSFSchema, key: string) => {
    const names = Object.keys(shown.properties ?? {})
    if (names.length === 0) return null
    return (
      <Form
        key={key}
        idPrefix={`${idPrefix}-${key}`}
        tagName="div"
        schema={shown}
        uiSchema={uiOf(shown)}
        fields={FIELDS}
        formContext={{ credential: value.credential }}
        validator={trusting}
        templates={configTemplates}
        formData={part(names)}
        noHtml5Validate
        showErrorList={false}
        {...(errors ? { extraErrors: errorSchema(errors) } : {})}
        // Of what the form fills in by itself it names no field, not even an undefined one.
        onChange={({ formData }: { formData?: Record<string, unknown> }, ...field) => {
          const before = latest.current
          const rest = Object.entries(before).filter(([name]) => !names.includes(name))
          const given = Object.entries(formData ?? {}).filter(([, v]) => !isBlank(v))
          latest.current = Object.fromEntries([...rest, ...given])
          if (field.length > 0 || !onBegin) onChange(latest.current)
          else onBegin(Object.fromEntries(given.filter(([name, v]) => !isSame(v, before[name]))))
        }}
      />
    )
  }
  const faulty = Object.keys(errors ?? {}).some((path) => rootOf(path) in (advanced.properties ?? {}))
  // Whoever only reads finds all of it open: nothing is pressed in a form that is not theirs.
  const isReadOnly = !useMay()
  const [open, setOpen] = useState<string | null>(isReadOnly ? 'advanced' : null)
  useEffect(() => {
    if (faulty) setOpen('advanced')
  }, [faulty])
  return (
    <div className="config-form">
      {render(inputs, 'inputs')}
      {children}
      {render(plain, 'plain')}
      {Object.keys(advanced.properties ?? {}).length > 0 && (
        <Accordion variant="contained" mt="sm" value={open} onChange={setOpen}>
          <Accordion.Item value="advanced">
            <Accordion.Control>
              More settings ({Object.keys(advanced.properties ?? {}).length})
            </Accordion.Control>
            <Accordion.Panel>{render(advanced, 'advanced')}</Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </div>
  )
}

/** What a field that nobody filled in has: the daemon's default holds, which for a list is not the empty one. */
const isBlank = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

type Part = 'inputs' | 'plain' | 'advanced'

/** The schema without labels, which have their own editor, in its parts. */
function splitSchema(schema: Record<string, unknown>, hasDiscovery: boolean): Record<Part, RJSFSchema> {
  const all = Object.entries((schema.properties ?? {}) as Record<string, Property>).filter(
    ([name]) => name !== 'labels',
  )
  const required = (schema.required ?? []) as string[]
  const partOf = (property: Property): Part => {
    if (property['x-advanced']) return 'advanced'
    return hasDiscovery && property['x-discover-input'] ? 'inputs' : 'plain'
  }
  const make = (part: Part): RJSFSchema => ({
    type: 'object',
    properties: Object.fromEntries(
      all.filter(([, property]) => partOf(property) === part),
    ) as RJSFSchema['properties'],
    required: required.filter((name) => name !== 'labels'),
  })
  return { inputs: make('inputs'), plain: make('plain'), advanced: make('advanced') }
}

/** The field of the config that a path is in or below. */
const rootOf = (path: string): string => /^[^.[]+/.exec(path)?.[0] ?? path

/** Faults by path, "queries[0].name", as the form has them: nested. */
function errorSchema(errors: Readonly<Record<string, string>>): ErrorSchema {
  const whole: Record<string, unknown> = {}
  for (const [path, message] of Object.entries(errors)) {
    let at = whole
    for (const step of path.split(/[.[\]]+/).filter(Boolean)) {
      at[step] ??= {}
      at = at[step] as Record<string, unknown>
    }
    at.__errors = [atField(path, message)]
  }
  return whole as ErrorSchema
}

function uiOf(schema: RJSFSchema): UiSchema {
  const ui: UiSchema = { 'ui:submitButtonOptions': { norender: true }, 'ui:label': false }
  for (const [name, property] of Object.entries((schema.properties ?? {}) as Record<string, Property>)) {
    // The kit leaves the description out of choices.
    if (property.enum)
      ui[name] = { 'ui:options': { description: property.description, enumNames: property['x-names'] } }
    const drawn = property['x-credential'] ? 'CredentialField' : DRAWN_BY[property['x-widget'] ?? '']
    if (drawn !== undefined) ui[name] = { 'ui:field': drawn }
    if (property['x-secret'])
      ui[name] = {
        'ui:widget': 'password',
        'ui:autocomplete': 'off',
        // The kit leaves the description out of password fields and of texts of several lines.
        'ui:options': { description: property.description },
      }
    if (property['x-widget'] === 'textarea' || property['x-widget'] === 'markdown')
      ui[name] = {
        'ui:widget': 'textarea',
        'ui:options': {
          rows: property['x-widget'] === 'markdown' ? 14 : 4,
          description: property.description,
        },
      }
    if (property.items && !drawn) {
      const { title = 'Entry', properties: inner = {} } = property.items
      const texts = Object.fromEntries(
        Object.entries(inner)
          .filter(([, p]) => p['x-widget'] === 'textarea')
          .map(([n, { maxLength = 0, description }]) => [
            n,
            { 'ui:widget': 'textarea', 'ui:options': { rows: maxLength > DOCUMENT ? 8 : 3, description } },
          ]),
      )
      // The kit calls an entry by the name of the list: "States that are up-1".
      ui[name] = {
        ...ui[name],
        items: (_: unknown, index: number) => ({ ...texts, 'ui:title': `${title} ${index + 1}` }),
      }
    }
  }
  return ui
}
