/**
 * Changes that are proposed and not made: planned like any change-set, kept, and written when a person
 * approves. What is written is what was planned: where that is no longer the same, approving is refused.
 */

import { randomBytes } from 'node:crypto'
import { kindWord } from '../../../schemas/kinds.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type {
  AgentWrite,
  AskProposal,
  ChangePlan,
  Label,
  Operation,
  ProjectCreate,
  Proposal,
  ProposalCreate,
  ProposalsResult,
  SourceWrite,
  TriggerDefinition,
  TriggerSpec,
  Verdict,
} from '../../../schemas/types.ts'
import { sentenceOf } from '../../../schemas/words.ts'
import type { ProposalDraft } from '../../agents/ask/calls.ts'
import type { Caller } from '../../calls.ts'
import { fail, SvcError } from '../../errors.ts'
import { acceptedBy, advance, firstSnapshot, recordCreated } from '../../log/lifecycle.ts'
import type { Database } from '../../log/store/handle.ts'
import type { ChangeKind, Edit } from '../../model/documents.ts'
import { isoOrNull } from '../../model/units.ts'
import { maskAddresses, secretParts } from '../../net/address-secrets.ts'
import type { Secrets } from '../../net/secrets.ts'
import { addressFields, secretFields } from '../../sources/connectors/index.ts'
import { type Declared, requireParamCredentials, type WriteBy } from '../declared.ts'
import { stageOperation, stageOperations } from '../operations.ts'
import { stageNewAgent } from '../part-writes.ts'
import { stageProject } from '../projects/project-writes.ts'
import { secretParams } from '../projects/template-plan.ts'
import { checkNewSource, refuseInternal, stageNewSource } from '../source-writes.ts'

/** So that a credential that may only read cannot fill the disk. */
const OPEN_PER_CREDENTIAL = 50
const OPEN_IN_ALL = 500
const LISTED_MAX = 100

export interface ProposalCalls {
  /** Plans and keeps a change; nothing of it is written. @throws SvcError as applying it would; too_many */
  propose(body: ProposalCreate, by: WriteBy): Promise<Proposal>
  listProposals(filter: {
    state?: Proposal['state'] | undefined
    before?: string | undefined
    limit: number
  }): Promise<ProposalsResult>
  /** @throws SvcError not_found */
  getProposal(id: string): Promise<Proposal>
  /** Writes exactly what was planned. @throws SvcError not_found; wrong_state; conflict when it would be another change now */
  approveProposal(id: string, by: WriteBy): Promise<Proposal>
  /** @throws SvcError not_found; wrong_state */
  declineProposal(id: string, reason: string, by: WriteBy): Promise<Proposal>
  /** @param own only one that this caller proposed. @throws SvcError not_found; wrong_state; forbidden */
  withdrawProposal(id: string, own: boolean, by: WriteBy): Promise<Proposal>
}

/** @param changed told of one that was made or decided, in the transaction of that */
export function proposalCalls(declared: Declared, changed: (id: string) => void): ProposalCalls {
  const { store, clock, changes, secrets } = declared
  const queries = proposalQueries(store.db)
  const require = (id: string): ProposalRow =>
    queries.byId(id) ?? fail('not_found', `no proposal has the id ${id}`)

  const stage = (operations: readonly Operation[], base: number) => (edit: Edit) => {
    stageOperations(declared, edit, operations, base)
    return edit
  }

  function decide(id: string, event: 'approve' | 'decline' | 'withdraw', by: WriteBy): void {
    const at = clock.now()
    advance(store.db, { kind: 'proposal', id, name: id }, event, by.caller, at)
    queries.decide(id, at, by.caller.name)
    changed(id)
  }

  return {
    propose: async ({ operations, why }, by) =>
      store.tx(() => {
        refuseTooMany(queries.openOf(by.caller.id), queries.open())
        const base = changes.version()
        const { plan, result: edit } = changes.commit(by, stage(operations, base), true)
        const wanted = onlyChanges(plan)
        if (wanted.changes.length === 0)
          fail('invalid', 'operations: they change nothing', { field: 'operations' })
        const id = `prop_${randomBytes(8).toString('hex')}`
        queries.insert({
          id,
          made_at: clock.now(),
          proposer: by.caller.name,
          proposer_id: by.caller.id,
          origin: by.origin,
          why: why ?? by.why ?? '',
          summary: summaryOf(wanted),
          base,
          operations: secrets.seal(JSON.stringify(operations), `proposals/${id}/operations`),
          plan: JSON.stringify(wanted),
          triggers: JSON.stringify(triggersOf(wanted, edit)),
          snapshot: firstSnapshot('proposal'),
        })
        recordCreated(store.db, 'proposal', id, by.caller, clock.now())
        changed(id)
        return present(require(id))
      }),

    listProposals: async ({ state, before, limit }) => {
      const from = before === undefined ? Number.MAX_SAFE_INTEGER : require(before).seq
      const size = Math.min(LISTED_MAX, Math.max(1, limit))
      const rows = queries.list(state ?? null, from, size + 1)
      const shown = rows.slice(0, size)
      return {
        proposals: shown.map(present),
        next_before: rows.length > size ? shown.at(-1)!.id : null,
        open: queries.open(),
      }
    },

    getProposal: async (id) => present(require(id)),

    approveProposal: async (id, by) =>
      store.tx(() => {
        const row = require(id)
        decide(id, 'approve', by)
        const operations = operationsOf(row, secrets)
        const why = [row.why, `proposed by ${row.proposer}`].filter(Boolean).join('; ')
        const { plan, changeSet } = changes.commit(
          { ...by, origin: row.origin, why },
          stage(operations, row.base),
        )
        if (JSON.stringify(maskAddresses(onlyChanges(plan))) !== JSON.stringify(shownPlan(row)))
          fail(
            'conflict',
            `what proposal ${id} would change is no longer what was planned: others changed it since version ${row.base}; propose it again`,
          )
        queries.wrote(id, changeSet)
        return present(require(id))
      }),

    declineProposal: async (id, reason, by) =>
      store.tx(() => {
        require(id)
        decide(id, 'decline', by)
        queries.because(id, reason.trim() || null)
        return present(require(id))
      }),

    withdrawProposal: async (id, own, by) =>
      store.tx(() => {
        const row = require(id)
        if (own && row.proposer_id !== by.caller.id)
          fail('forbidden', 'another credential proposed this; one with scope admin declines it')
        decide(id, 'withdraw', by)
        return present(require(id))
      }),
  }
}

/** Stages what a proposal would change, for who asks what comes of it. @throws SvcError not_found; conflict */
export function stagingOfProposal(declared: Declared, id: string): (edit: Edit) => void {
  const row = proposalQueries(declared.store.db).byId(id) ?? fail('not_found', `no proposal has the id ${id}`)
  const operations = operationsOf(row, declared.secrets)
  return (edit) => stageOperations(declared, edit, operations, row.base)
}

function refuseTooMany(ofCredential: number, inAll: number): void {
  if (ofCredential >= OPEN_PER_CREDENTIAL)
    fail('too_many', `this credential has ${ofCredential} open proposals; withdraw one, or wait for a person`)
  if (inAll >= OPEN_IN_ALL) fail('too_many', `${inAll} proposals are open; a person has to decide some first`)
}

function onlyChanges(plan: ChangePlan): ChangePlan {
  return { ...plan, changes: plan.changes.filter(({ action }) => action !== 'none') }
}

/** "creates trigger errors; changes agent triage and 2 more". */
function summaryOf({ changes }: ChangePlan): string {
  const verbs = { create: 'creates', update: 'changes', delete: 'deletes', none: '' } as const
  const [first, second, ...more] = changes.map(
    ({ action, kind, name }) => `${verbs[action]} ${kindWord(kind)} ${name}`,
  )
  return [first, second && `; ${second}`, more.length > 0 && ` and ${more.length} more`]
    .filter(Boolean)
    .join('')
}

function triggersOf({ changes }: ChangePlan, edit: Edit): Proposal['triggers'] {
  return changes
    .filter(({ kind, action }) => kind === 'trigger' && action !== 'delete')
    .map(({ key }) => {
      const { paused: _, ...definition } = edit.get('trigger', key)!
      return { name: key, definition: definition as TriggerDefinition }
    })
}

/** @throws SvcError invalid where the data file was restored without the key they were sealed with */
function operationsOf({ id, operations }: ProposalRow, secrets: Secrets): Operation[] {
  try {
    return JSON.parse(secrets.open(operations, `proposals/${id}/operations`)) as Operation[]
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return fail(
      'invalid',
      `what proposal ${id} would change cannot be read with this secret.key; decline it, and have it proposed again`,
    )
  }
}

/** Plans of older releases have addresses as they were entered. */
const shownPlan = ({ plan }: ProposalRow): ChangePlan => maskAddresses(JSON.parse(plan) as ChangePlan)

function present(row: ProposalRow): Proposal {
  return {
    id: row.id,
    state: row.state,
    accepts: acceptedBy('proposal', row.snapshot),
    made_at: new Date(row.made_at).toISOString(),
    proposer: row.proposer,
    proposer_id: row.proposer_id,
    origin: row.origin,
    why: row.why,
    summary: row.summary,
    base: row.base,
    plan: shownPlan(row),
    triggers: JSON.parse(row.triggers) as Proposal['triggers'],
    decided_at: isoOrNull(row.decided_at),
    decided_by: row.decided_by,
    reason: row.reason,
    change_set: row.change_set,
  }
}

/* The SQL of proposals. */

interface ProposalRow {
  id: string
  seq: number
  made_at: number
  proposer: string
  proposer_id: string
  origin: Proposal['origin']
  why: string
  summary: string
  base: number
  /** JSON, sealed. */
  operations: string
  plan: string
  triggers: string
  decided_at: number | null
  decided_by: string | null
  reason: string | null
  change_set: number | null
  snapshot: string
  state: Proposal['state']
}

type NewProposal = Omit<ProposalRow, 'seq' | 'state' | 'decided_at' | 'decided_by' | 'reason' | 'change_set'>

/** The statements of proposals, prepared once. */
function proposalQueries(db: Database) {
  const insert = db.prepare<NewProposal>(
    `INSERT INTO proposals (id, seq, made_at, proposer, proposer_id, origin, why, summary, base, operations, plan, triggers, snapshot)
     VALUES (@id, (SELECT coalesce(max(seq), 0) + 1 FROM proposals), @made_at, @proposer, @proposer_id, @origin, @why, @summary, @base, @operations, @plan, @triggers, @snapshot)`,
  )
  const byId = db.prepare<[string], ProposalRow>('SELECT * FROM proposals WHERE id = ?')
  const list = db.prepare<[string | null, string | null, number, number], ProposalRow>(
    'SELECT * FROM proposals WHERE (? IS NULL OR state = ?) AND seq < ? ORDER BY seq DESC LIMIT ?',
  )
  const open = db.prepare<[], number>("SELECT count(*) FROM proposals WHERE state = 'open'").pluck()
  const openOf = db
    .prepare<[string], number>("SELECT count(*) FROM proposals WHERE state = 'open' AND proposer_id = ?")
    .pluck()
  const decide = db.prepare<[number, string, string]>(
    'UPDATE proposals SET decided_at = ?, decided_by = ? WHERE id = ?',
  )
  const wrote = db.prepare<[number | null, string]>('UPDATE proposals SET change_set = ? WHERE id = ?')
  const because = db.prepare<[string | null, string]>('UPDATE proposals SET reason = ? WHERE id = ?')
  return {
    insert: (row: NewProposal) => insert.run(row),
    byId: (id: string) => byId.get(id),
    /** Newest first. @param before seq they are below */
    list: (state: string | null, before: number, limit: number) => list.all(state, state, before, limit),
    open: () => open.get() ?? 0,
    openOf: (proposer: string) => openOf.get(proposer) ?? 0,
    decide: (id: string, at: number, by: string) => decide.run(at, by, id),
    wrote: (id: string, changeSet: number | null) => wrote.run(changeSet, id),
    because: (id: string, reason: string | null) => because.run(reason, id),
  }
}

/*
 * What a proposal of Ask would change: planned by the same code that makes it, and rolled back. What
 * would be refused is refused here, with the sentence that its author, a model, can put it right by.
 */

/** Newest events of a source whose fields labels may name. */
const SAMPLED = 500
const LISTED = 60

type Args<T> = T & { reasoning: string }
type Staged = Pick<AskProposal, 'name' | 'needs' | 'body'> & { sentence?: string; stage(edit: Edit): void }

/** @throws SvcError as making it would */
export function planProposal(declared: Declared, { kind, args }: ProposalDraft, caller: Caller): AskProposal {
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

const STAGES: Record<ProposalDraft['kind'], (declared: Declared, args: never) => Staged> = {
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
      `labels: none of the newest ${countWords(sampled, 'event')} of ${source} has the field ${label.field}; there are ${listed(known)}`,
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
  if (told) fail('invalid', `${at}.${told} is a secret, so leave it out and name it under needs`)
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
