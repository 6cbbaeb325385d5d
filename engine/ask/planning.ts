/**
 * What a proposal of Ask would change: planned by the same code that makes it, and rolled back. What
 * would be refused is refused here, with the sentence that its author, a model, can put it right by.
 */
import type {
  AgentWrite,
  AskProposal,
  ChangePlan,
  Label,
  Operation,
  ProjectCreate,
  SourceWrite,
  TriggerSpec,
  Verdict,
} from '../../schemas/types.ts'
import { sentenceOf } from '../../schemas/words.ts'
import { secretParts } from '../address-secrets.ts'
import type { Caller } from '../calls.ts'
import type { ChangeKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import { addressFields, secretFields } from '../connectors/config.ts'
import { stageNewAgent } from '../declared/agent-writes.ts'
import type { Declared } from '../declared/declared.ts'
import { stageOperation } from '../declared/operations.ts'
import { stageProject } from '../declared/project-writes.ts'
import { requireParamCredentials } from '../declared/require-credential.ts'
import { checkNewSource, refuseInternal, stageNewSource } from '../declared/source-writes.ts'
import { fail, SvcError } from '../errors.ts'
import { secretParams } from '../templates/params.ts'
import type { Draft } from './types.ts'

/** Newest events of a source whose fields labels may name. */
const SAMPLED = 500
const LISTED = 60

type Args<T> = T & { reasoning: string }
type Staged = Pick<AskProposal, 'name' | 'needs' | 'body'> & { sentence?: string; stage(edit: Edit): void }

/** @throws SvcError as making it would */
export function planProposal(declared: Declared, { kind, args }: Draft, caller: Caller): AskProposal {
  const { stage, sentence = null, ...rest } = STAGES[kind](declared, args as never)
  return {
    kind,
    reasoning: String(args.reasoning ?? ''),
    ...rest,
    sentence,
    plan: planOf(declared, stage, rest.needs, caller),
    base: declared.changes.version(),
  }
}

/** @returns null where it cannot be planned before a person has typed what it needs. */
function planOf(
  declared: Declared,
  stage: (edit: Edit) => void,
  needs: readonly string[],
  caller: Caller,
): ChangePlan | null {
  try {
    const { plan } = declared.changes.commit({ caller, origin: 'api' }, stage, true)
    const changes = plan.changes.filter(({ action }) => action !== 'none')
    if (changes.length === 0) fail('invalid', 'it is like that already: nothing would change')
    return { ...plan, changes }
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'invalid' || needs.length === 0) throw error
    const left = error.message.split('; ').filter((sentence) => !namesAny(sentence, needs))
    if (left.length) fail('invalid', left.join('; '), error.extra)
    return null
  }
}

/** Whether a sentence of the validator is about one of the fields. */
const namesAny = (sentence: string, fields: readonly string[]): boolean =>
  sentence.split(/[^\w.-]+/).some((word) => fields.some((field) => isField(word, field)))

const isField = (word: string, name: string): boolean => word === name || word.endsWith(`.${name}`)

const STAGES: Record<Draft['kind'], (declared: Declared, args: never) => Staged> = {
  labels: stageLabels,
  trigger: stageTrigger,
  source: stageSource,
  project: stageTemplate,
  agent: stageAgent,
}

function stageLabels(
  declared: Declared,
  { source, labels }: Args<{ source: string; labels: Label[] }>,
): Staged {
  requireNamed(declared, 'source', source)
  refuseUnseenFields(declared, source, labels)
  return changing(declared, source, [
    { op: 'patch', kind: 'source', name: source, spec: { config: { labels } } },
  ])
}

/** A label of a field that no event has would be on no event. */
function refuseUnseenFields(declared: Declared, source: string, labels: readonly Label[]): void {
  const { sampled, fields } = declared.sources.fields(source, SAMPLED)
  if (sampled === 0) return
  const known = fields.map(({ name }) => name)
  for (const label of labels) {
    if (!('field' in label) || label.field === undefined || known.includes(label.field)) continue
    fail(
      'invalid',
      `labels: none of the newest ${sampled} events of ${source} has the field ${label.field}; there are ${listed(known)}`,
    )
  }
}

function stageTrigger(
  declared: Declared,
  { name, spec, project }: Args<{ name: string; spec: TriggerSpec; project?: string }>,
): Staged {
  for (const source of spec.sources) requireNamed(declared, 'source', source)
  const operation: Operation = {
    op: 'put',
    kind: 'trigger',
    name,
    spec: { ...spec },
    ...(project ? { project } : {}),
  }
  return { ...changing(declared, name, [operation]), sentence: sentenceOf(spec) }
}

function changing(declared: Declared, name: string, operations: Operation[]): Staged {
  const base = declared.changes.version()
  return {
    name,
    needs: [],
    body: { operations, base },
    stage: (edit) => {
      operations.forEach((operation, i) => {
        stageOperation(declared, edit, operation, base, `operations[${i}]`)
      })
    },
  }
}

function stageSource(
  declared: Declared,
  { reasoning: _why, needs = [], ...body }: Args<SourceWrite & { needs?: string[] }>,
): Staged {
  refuseInternal(body.connector)
  refuseSecrets(secretFields(body.connector), body.config ?? {}, 'config')
  for (const field of addressFields(body.connector)) refuseInAddress(body.config?.[field], `config.${field}`)
  return {
    name: body.name,
    needs,
    body: { ...body },
    stage: (edit) => {
      checkNewSource(declared, body)
      stageNewSource(edit, body)
    },
  }
}

function stageTemplate(
  declared: Declared,
  {
    reasoning: _why,
    needs = [],
    ...body
  }: Args<ProjectCreate & { template: string; name: string; needs?: string[] }>,
): Staged {
  const keys = declared.templates.all().filter((file) => !file.hidden)
  const file =
    declared.templates.get(body.template) ??
    fail(
      'invalid',
      `no template has the key ${body.template}; there are ${listed(keys.map(({ key }) => key))}`,
    )
  refuseSecrets(secretParams(file), body.params ?? {}, 'params')
  for (const [name, value] of Object.entries(body.params ?? {})) refuseInAddress(value, `params.${name}`)
  requireParamCredentials(declared, body.template, body.params)
  return {
    name: body.name,
    needs,
    body: { ...body },
    stage: (edit) => void stageProject(declared, edit, body),
  }
}

interface AgentArgs {
  name: string
  trigger: string
  prompt: string
  model?: string
  max_rounds?: number
  budget_usd?: number
  verdicts?: Verdict[]
  delivery?: { kind: 'none' | 'webhook'; url?: string }
  project?: string
}

function stageAgent(declared: Declared, { reasoning: _why, delivery, ...rest }: Args<AgentArgs>): Staged {
  requireNamed(declared, 'trigger', rest.trigger)
  const url = delivery?.kind === 'webhook' ? delivery.url : undefined
  refuseInAddress(url, 'delivery.url')
  const body: AgentWrite = { ...rest, ...(url ? { webhook_url: url } : {}) }
  return {
    name: rest.name,
    needs: delivery?.kind === 'webhook' && !url ? ['webhook_url'] : [],
    body: { ...body },
    stage: (edit) => stageNewAgent(edit, body),
  }
}

function requireNamed({ kinds }: Declared, kind: ChangeKind, name: string): void {
  if (kinds[kind].find(name)) return
  const names = kinds[kind].list().map((one) => one.name)
  fail('not_found', `no ${kind} is named ${name}; there are ${listed(names)}`)
}

/** What a model has been told would be stored by its provider: secrets are typed by the person. */
function refuseSecrets(secrets: readonly string[], given: Record<string, unknown>, at: string): void {
  const told = secrets.find((field) => given[field] !== undefined && given[field] !== '')
  if (told) fail('invalid', `${at}.${told} is a secret: leave it out and name it under needs`)
}

/** The same of an address: a model that was told one has its secret. @param at the field, for the sentence */
function refuseInAddress(value: unknown, at: string): void {
  const [told] = secretParts(value)
  if (told !== undefined)
    fail('invalid', `${at} has a secret in it (${told}): leave the field out and name it under needs`)
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  const more = names.length - LISTED
  return `${names.slice(0, LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
